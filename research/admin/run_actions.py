"""What staff may do with runs: cancel them, have them done again, take them away as files.

To cancel and to do again asks for the permission to change runs, a file for the one to see them.
A run that is done again is its user's, as the one before.
"""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Callable
from datetime import date
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME, ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from research.engine.work import cancel_run, rerun
from research.errors import answer
from research.export import FORMATS, export
from research.models import Run, RunStatus
from research.sandbox import SandboxError
from streaming.exceptions import StreamingError

ASKED = 5  # runs; for more it is asked first
MOST = 200  # runs at once
FILES_MOST = 50
FILES_BYTES = 100 * 1024 * 1024


class Refused(Exception):
    """Says why a run was left as it is."""


class RunActionForm(ActionForm):
    """The choice of an action, and of what a file is made as."""

    format = forms.ChoiceField(
        label=gettext_lazy("Files as"),
        choices=[(name, kind.label) for name, kind in FORMATS.items()],
        required=False,
    )


class RunActions(admin.ModelAdmin[Run]):
    """The actions."""

    action_form = RunActionForm
    actions = ["cancel", "again", "files_of"]

    def has_steer_permission(self, request: HttpRequest) -> bool:
        """Tell whether somebody may decide about runs of others."""
        return bool(request.user.has_perm("research.change_run"))

    @admin.action(description=gettext_lazy("Cancel the chosen runs"), permissions=["steer"])
    def cancel(self, request: HttpRequest, runs: QuerySet[Run]) -> HttpResponse | None:
        """Ask for runs to be cancelled."""

        def one(run: Run) -> None:
            if run.ended:
                raise Refused(_("it has ended already"))
            if run.status == RunStatus.CANCELLING:
                raise Refused(_("it is being cancelled already"))
            cancel_run(run.pk, request.user.get_username())

        question = gettext_lazy("Cancel these runs?")
        if asked := self._ask(request, runs, "cancel", question):
            return asked
        done = self._each(request, runs, one, _("Cancelled"))
        if done:
            said = ngettext("%d run is being cancelled.", "%d runs are being cancelled.", done)
            self.message_user(request, said % done, messages.SUCCESS)
        return None

    @admin.action(description=gettext_lazy("Do the chosen runs again"), permissions=["steer"])
    def again(self, request: HttpRequest, runs: QuerySet[Run]) -> HttpResponse | None:
        """Start runs that ask the same as these."""

        def one(run: Run) -> None:
            if not run.ended:
                raise Refused(_("it goes on still"))
            rerun(run, run.user)

        question = gettext_lazy("Do these runs again? Each may cost as much as it did before.")
        if asked := self._ask(request, runs, "again", question):
            return asked
        done = self._each(request, runs, one, _("Done again"))
        if done:
            said = ngettext("%d run is started again.", "%d runs are started again.", done)
            self.message_user(request, said % done, messages.SUCCESS)
        return None

    @admin.action(description=gettext_lazy("Keep the chosen runs as files"), permissions=["view"])
    def files_of(self, request: HttpRequest, runs: QuerySet[Run]) -> HttpResponse | None:
        """Return runs as files, in one archive."""
        format = request.POST.get("format") or next(iter(FORMATS))
        if format not in FORMATS:
            self.message_user(request, _("Choose what the files are to be."), messages.ERROR)
            return None
        chosen = list(runs.order_by("-created_at")[: FILES_MOST + 1])
        if len(chosen) > FILES_MOST:
            said = _("Choose at most %d runs: their files come in one answer.") % FILES_MOST
            self.message_user(request, said, messages.ERROR)
            return None
        response = HttpResponse(archive(chosen, format), "application/zip")
        name = f"runs-{date.today().isoformat()}.zip"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    # --- how ------------------------------------------------------------------------------------
    def _ask(
        self, request: HttpRequest, runs: QuerySet[Run], action: str, question: Any
    ) -> HttpResponse | None:
        """Return a page that asks whether so many runs are meant; None where it was asked."""
        chosen = list(runs[: MOST + 1])
        if "confirmed" in request.POST or len(chosen) <= ASKED:
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": question,
            "opts": self.opts,
            "runs": chosen[:MOST],
            "more": len(chosen) > MOST,
            "most": MOST,
            "action": action,
            "box": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/research/run/confirm.html", context)

    def _each(
        self,
        request: HttpRequest,
        runs: QuerySet[Run],
        one: Callable[[Run], None],
        did: str,
    ) -> int:
        """Do one thing with each run; say of those that were left as they are, why."""
        done, left = 0, Counter[str]()
        for run in runs.select_related("user", "stream")[:MOST]:
            try:
                one(run)
            except Refused as refused:
                left[str(refused)] += 1
            except StreamingError as error:
                left[answer(error)] += 1
            else:
                done += 1
                self.log_change(request, run, did)
        for reason, count in left.items():
            said = ngettext(
                "%(count)d run is left as it is: %(reason)s",
                "%(count)d runs are left as they are: %(reason)s",
                count,
            )
            self.message_user(request, said % {"count": count, "reason": reason}, messages.WARNING)
        return done


def archive(runs: list[Run], format: str) -> bytes:
    """Return the files of runs as a ZIP archive; what is missing is said in it."""
    kept, missing = io.BytesIO(), []
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as files:
        for run in runs:
            try:
                made = export(run.pk, format)
                data = made.data
            except (StreamingError, SandboxError) as error:
                missing.append(f"{run.pk}: {error}")
                continue
            if kept.tell() + len(data) > FILES_BYTES:
                missing.append(f"{run.pk}: " + _("There was no more room in this archive."))
                continue
            files.writestr(f"{run.pk}/{made.filename}", data)
        if missing:
            files.writestr("missing.txt", "\n".join(missing) + "\n")
    return kept.getvalue()
