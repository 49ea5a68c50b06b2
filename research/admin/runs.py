"""Runs: what was asked, how it stands, and what may be done with it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import F, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from research.export import FORMATS, export
from research.models import Citation, Member, Note, Run, Source, Steer, Task, ToolCall, Work
from research.sandbox import SandboxError
from streaming.exceptions import NotFound
from streaming.models import EventRow

from .counting import count_of
from .reading import ReadOnly, Rows, RowsInline
from .run_actions import RunActions
from .telling import NOTHING, as_json, line, link_to, links, list_of, state, took

CHILDREN = 20  # that are shown


class WorkInline(RowsInline):
    """The works of a run."""

    model = Work
    fields = ["name", "member", "told", "attempt", "error_code", "started_at",
                                "took"]  # fmt: skip
    readonly_fields = ["told", "took"]
    late = ("input", "output", "talk")

    @admin.display(description=_("status"))
    def told(self, work: Work) -> SafeString | str:
        """Return its status."""
        return state(work.status)

    @admin.display(description=_("took"))
    def took(self, work: Work) -> str:
        """Return how long it took."""
        return took(work.started_at, work.ended_at)


class TaskInline(RowsInline):
    """The tasks of a run."""

    model = Task
    fields = ["task_id", "step", "title", "told", "member", "error_code"]
    readonly_fields = ["told"]

    @admin.display(description=_("status"))
    def told(self, task: Task) -> SafeString | str:
        """Return its status."""
        return state(task.status)


class MemberInline(RowsInline):
    """The members of a run."""

    model = Member
    fields = ["name", "role", "told"]
    readonly_fields = ["told"]
    show_change_link = False

    @admin.display(description=_("status"))
    def told(self, member: Member) -> SafeString | str:
        """Return its status."""
        return state(member.status)


@admin.register(Run)
class RunAdmin(RunActions, ReadOnly, Rows):
    """Runs."""

    list_display = ["topic_line", "user", "told", "error_code", "took", "tasks_done",
                    "source_count", "citation_count", "created", "page"]  # fmt: skip
    list_filter = ["status", "error_code", "language", "created_at",
                   ("user", admin.RelatedOnlyFieldListFilter)]  # fmt: skip
    search_fields = ["topic", "=stream__id", "user__username", "tasks__title"]
    search_help_text = _("Words of the question, of a task, the name of a user, or the id of a run")
    list_select_related = ["user"]
    date_hierarchy = "created_at"
    ordering = ["-created_at"]
    owner = "user"
    late = ("error_message", "options")
    fieldsets = [
        (None, {"fields": ["topic", "user", "told", "took", "created_at", "ended_at"]}),
        (_("Outcome"), {"fields": ["error_code", "error_message", "cut_short"]}),
        (_("Leads to"), {"fields": ["page", "rows", "log", "files", "of_parent", "children"]}),
        (_("Asked for"), {"fields": ["language", "told_options"]}),
    ]
    inlines = [WorkInline, TaskInline, MemberInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        """Count what each run has brought."""
        rows: QuerySet[Run] = super().get_queryset(request)
        return rows.annotate(
            n_tasks=count_of(Task),
            n_done=count_of(Task, status="completed"),
            n_sources=count_of(Source),
            n_citations=count_of(Citation),
        )

    # --- columns --------------------------------------------------------------------------------
    @admin.display(description=_("question"), ordering="topic")
    def topic_line(self, run: Run) -> str:
        """Return the question, on one line."""
        return line(run.topic, 90) or NOTHING

    @admin.display(description=_("status"), ordering="status")
    def told(self, run: Run) -> SafeString | str:
        """Return its status."""
        return state(run.status)

    @admin.display(description=_("took"), ordering=F("ended_at") - F("created_at"))
    def took(self, run: Run) -> str:
        """Return how long it took, or has taken."""
        return took(run.created_at, run.ended_at)

    @admin.display(description=_("tasks done"), ordering="n_tasks")
    def tasks_done(self, run: Any) -> str:
        """Return how many of its tasks are done."""
        return f"{run.n_done} / {run.n_tasks}"

    @admin.display(description=_("sources"), ordering="n_sources")
    def source_count(self, run: Any) -> int:
        """Return how many sources it found."""
        return int(run.n_sources)

    @admin.display(description=_("citations"), ordering="n_citations")
    def citation_count(self, run: Any) -> int:
        """Return how many citations its report has."""
        return int(run.n_citations)

    # --- its own page ---------------------------------------------------------------------------
    @admin.display(description=_("its rows"))
    def rows(self, run: Run) -> SafeString:
        """Return links to the lists of what it did and found."""
        models = {
            Work: _("works"),
            Task: _("tasks"),
            ToolCall: _("tool calls"),
            Note: _("notes"),
            Source: _("sources"),
            Citation: _("citations"),
            Steer: _("what people said"),
        }
        parts = [(list_of(model, label, run__exact=run.pk),) for model, label in models.items()]
        return format_html_join(" · ", "{}", parts)

    @admin.display(description=_("its log"))
    def log(self, run: Run) -> SafeString:
        """Return a link to its events."""
        return list_of(EventRow, _("events"), stream__id__exact=run.pk)

    @admin.display(description=_("as a file"))
    def files(self, run: Run) -> SafeString:
        """Return links to its exports."""
        return links(
            {
                reverse("admin:research_run_export", args=[run.pk, name]): kind.label
                for name, kind in FORMATS.items()
            }
        )

    @admin.display(description=_("comes from"))
    def of_parent(self, run: Run) -> SafeString | str:
        """Return a link to the run that it continues."""
        return link_to(run.parent)

    @admin.display(description=_("continued by"))
    def children(self, run: Run) -> SafeString | str:
        """Return links to the runs that continue it."""
        rows = Run.objects.filter(parent=run)[:CHILDREN]
        return format_html_join(" · ", "{}", ((link_to(row),) for row in rows)) or NOTHING

    @admin.display(description=_("options"))
    def told_options(self, run: Run) -> SafeString:
        """Return what was asked for."""
        return as_json(run.options)

    # --- as a file ------------------------------------------------------------------------------
    def get_urls(self) -> list[URLPattern]:
        """Add where a run is to be had as a file."""
        view = self.admin_site.admin_view(self.export_view)
        route = path("<uuid:run_id>/export/<slug:format>/", view, name="research_run_export")
        return [route, *super().get_urls()]

    def export_view(self, request: HttpRequest, run_id: UUID, format: str) -> HttpResponse:
        """Return a run as a file, to whoever may see runs."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            made = export(run_id, format)
            return HttpResponse(made.data, headers=made.headers)
        except NotFound as error:
            raise Http404(error.message) from None
        except SandboxError as error:
            return HttpResponse(str(error), "text/plain; charset=utf-8", status=503)
