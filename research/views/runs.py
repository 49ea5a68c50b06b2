"""A run, one of its tasks, and what may be done with it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.generic import TemplateView

from research.engine.remove import remove_run
from research.faces.fragments import LANES, containers
from research.faces.pieces import Page
from streaming.exceptions import Conflict

from .visible import OfRun

WINDOW = 256
BEHIND = 500
"""How many events a page may be behind before it is fetched anew."""


class LivePage(OfRun, TemplateView):
    """A page that goes on where it was rendered."""

    lanes: frozenset[str] | None = None
    group = "task"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the fragments, and where in the log they stand."""
        state, scope = self.state, self.scope
        return super().get_context_data(
            run=self.run,
            card=state.run,
            into=containers(scope, Page(state, self.lanes).pieces(), self.group),
            group=self.group,
            cursor=f"{scope.epoch}:{state.seq}",
            locale=scope.locale,
            window=WINDOW,
            behind=BEHIND,
            **kwargs,
        )


class RunPage(LivePage):
    """Plan, timeline and report, side by side; `?group=member` gives each member a lane."""

    template_name = "research/run.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Group the timeline as the address says."""
        if (group := self.request.GET.get("group")) in LANES:
            self.group = group
        return super().get_context_data(**kwargs)


class TaskPage(LivePage):
    """One task and all that was done for it."""

    template_name = "research/task.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the task, and the sources that its members found."""
        task = self.state.tasks.get(kwargs["task_id"])
        if task is None:
            raise Http404("There is no such task.")
        token = task.stream_token or ""
        self.lanes = frozenset({token})
        context = super().get_context_data(task=task, token=token, **kwargs)
        context["head"] = context["into"].get(f"head_{token}", "")
        context["now"] = context["into"].get(f"now_{token}", "")
        context["items"] = context["into"].get(f"items_{token}", "")
        return context


class DeleteRun(OfRun, TemplateView):
    """Ask once more, then delete a run that has ended."""

    template_name = "research/run_delete.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the run."""
        return super().get_context_data(run=self.run, **kwargs)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Delete it, or say why that cannot be done now."""
        try:
            remove_run(self.run.pk)
        except Conflict:
            return self.render_to_response(self.get_context_data(**kwargs), status=409)
        return redirect("home")
