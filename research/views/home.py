"""Home: ask, and find again what was asked."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import UUID

from django.contrib.auth.mixins import LoginRequiredMixin
from django.db.models import Count, IntegerField, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.generic import ListView, View

from research.engine.next_work import ENDED
from research.engine.work import TOPIC_LENGTH, start_run
from research.errors import answer
from research.forms import StartForm
from research.models import Run, Source, Task
from streaming.exceptions import StreamingError

CHOICES = ("researchers", "sources")
"""The choices of a run that the composer offers besides its collection."""


@method_decorator(never_cache, name="dispatch")
class Home(LoginRequiredMixin, ListView[Run]):
    """The composer, and the runs below it."""

    template_name = "research/home.html"
    paginate_by = 20
    context_object_name = "runs"

    def get_queryset(self) -> QuerySet[Run]:
        """Return the user's runs, newest first; with `?q=` those that name it."""
        found = runs_of(self.request.user)
        if query := self.request.GET.get("q", "").strip()[:200]:
            matches = Q(topic__icontains=query) | Q(tasks__title__icontains=query)
            found = found.filter(pk__in=Run.objects.filter(matches).values("pk"))
        return found

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the composer and what was searched for."""
        query = self.request.GET.get("q", "").strip()[:200]
        form = kwargs.pop("form", None) or StartForm(user=self.request.user, initial=self._asked())
        return super().get_context_data(form=form, query=query, **kwargs)

    def _asked(self) -> dict[str, Any]:
        """Return what the address asks for: `?topic=`, `?collection=`, or a run to ask `?again=`.

        It fills the form in; nothing starts before somebody sends it.
        """
        given = self.request.GET
        initial: dict[str, Any] = {"topic": given.get("topic", "")[:TOPIC_LENGTH]}
        if (collection := given.get("collection", "")[:20]).isdecimal():
            initial["collection"] = collection
        with suppress(ValueError):
            before = UUID(given.get("again", "")[:40])
            if run := Run.objects.visible_to(self.request.user).filter(pk=before).first():
                collections = run.options.get("collections") or [None]
                initial |= {"topic": run.topic, "collection": collections[0]}
                initial |= {key: run.options[key] for key in CHOICES if key in run.options}
        return initial


class Start(LoginRequiredMixin, View):
    """Start a run."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Lead to the composer: a reload after a mistake, or a typed address."""
        return redirect("home")

    def post(self, request: HttpRequest) -> HttpResponse:
        """Start it and lead to its page, or show the composer with what was wrong."""
        form = StartForm(request.POST, user=request.user)
        if form.is_valid():
            topic, key = form.cleaned_data["topic"], form.cleaned_data["key"]
            try:
                started = start_run(request.user, topic, form.options(), key)
            except StreamingError as error:
                form.add_error("topic", answer(error))
            else:
                return redirect("run", run_id=started.run.pk)
        context = {"form": form, "runs": runs_of(request.user)[:20], "query": ""}
        return render(request, "research/home.html", context, status=422)


def runs_of(user: Any) -> QuerySet[Run]:
    """Return a user's runs, newest first, with how far each is."""
    runs = Run.objects.visible_to(user).annotate(
        source_count=_count(Source),
        task_count=_count(Task),
        tasks_ended=_count(Task, status__in=[*ENDED, "skipped"]),
    )
    return runs.order_by("-created_at", "-pk")


def _count(model: type[Model], **which: Any) -> Coalesce:
    """Return how many rows a run has, counted for the runs that are shown alone."""
    rows = model._default_manager.filter(run=OuterRef("pk"), **which).order_by().values("run")
    counted = rows.annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
