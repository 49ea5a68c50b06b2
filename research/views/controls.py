"""What a person asks of a run, as forms: the same as the commands of the websocket."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.generic import View

from research import errors
from research.engine import controls
from research.engine.controls import Obeyed
from research.engine.work import start_run
from research.options import RunOptions
from streaming.exceptions import BadRequest, NotFound, StreamingError
from streaming.text import clean

from .visible import OfRun

KEY_LENGTH = 200
Asks = Literal["steer", "pause", "resume", "finish", "cancel", "again", "ask", "retry"]


class Control(OfRun, View):
    """Ask something of the run; its page tells when it is done.

    A script that asks for JSON gets the answer of the command; without one the page comes again,
    and says what went wrong.
    """

    asks: Asks = "cancel"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Lead to the run: what a reload asks for."""
        return redirect("run", run_id=self.run.pk)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Ask, and confirm it or say why not."""
        key = clean(request.POST.get("key", ""))[:KEY_LENGTH] or None
        try:
            obeyed = self._obey(key)
        except StreamingError as error:
            return self._refuse(error)
        return self._confirm(obeyed)

    def _obey(self, key: str | None) -> Obeyed:
        run, user, given = self.run, self.request.user, self.request.POST
        match self.asks:
            case "steer":
                return controls.steer(
                    run, user, given.get("text", ""), clean(given.get("to", "")), key
                )
            case "retry":
                return controls.retry(run, user, self.kwargs["task_id"], key)
            case "ask":
                options = RunOptions.model_validate(run.options)
                started = start_run(user, given.get("topic", ""), options, key, run)
                answer = {"run": str(started.run.pk), "state": started.run.status}
                return Obeyed(answer, started.duplicate)
        return getattr(controls, self.asks)(run, user, key)  # type: ignore[no-any-return]

    def _confirm(self, obeyed: Obeyed) -> HttpResponse:
        run_id = UUID(obeyed.answer["run"])
        leads = reverse("run", args=[run_id])
        said = self._says(obeyed)
        if self.is_script:
            elsewhere = leads if run_id != self.run.pk else None
            return JsonResponse({**obeyed.fields, "says": said, "leads": elsewhere})
        if run_id == self.run.pk:
            messages.success(self.request, said)
        return redirect(leads)

    def _says(self, obeyed: Obeyed) -> str:
        """Return the answer as a sentence; what the page itself shows is not said again."""
        if self.asks != "steer":
            return ""
        if obeyed.answer["missed"]:
            return _("Written down, but nobody hears it any more.")
        return _("Written down; it is heard at the next step.")

    def _refuse(self, error: StreamingError) -> HttpResponse:
        said = errors.answer(error)
        if self.is_script:
            status = 404 if isinstance(error, NotFound) else 409
            status = 422 if isinstance(error, BadRequest) else status
            return JsonResponse({"code": error.code, "says": said}, status=status)
        messages.error(self.request, said)
        return redirect("run", run_id=self.run.pk)

    @property
    def is_script(self) -> bool:
        """Tell whether a script asks, not a browser by itself."""
        return "application/json" in self.request.headers.get("Accept", "")
