"""Runs, and what they are made of."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from research.models import Member, Run, Task, Work

from .reading import ReadOnly, RowsInline, RowsOfRun, page_of


class WorkInline(RowsInline):
    """The works of a run."""

    model = Work
    fields = ["name", "member", "status", "attempt", "error_code", "started_at", "ended_at"]


class TaskInline(RowsInline):
    """The tasks of a run."""

    model = Task
    fields = ["task_id", "step", "title", "status", "member", "error_code"]


class MemberInline(RowsInline):
    """The members of a run."""

    model = Member
    fields = ["name", "role", "status"]
    show_change_link = False


@admin.register(Run)
class RunAdmin(ReadOnly, admin.ModelAdmin[Run]):
    """Runs."""

    list_display = ["topic_line", "user", "status", "task_count", "source_count", "created_at",
                    "page"]  # fmt: skip
    list_filter = ["status", "language", "created_at", ("user", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["topic", "=stream__id", "user__username", "tasks__title"]
    list_select_related = ["user"]
    date_hierarchy = "created_at"
    list_per_page = 50
    fields = ["topic", "user", "status", "language", "options", "error_code", "error_message",
              "created_at", "ended_at", "parent", "page", "rows", "log"]  # fmt: skip
    inlines = [WorkInline, TaskInline, MemberInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        """Count what each run has brought."""
        counts = {
            "n_tasks": Count("tasks", distinct=True),
            "n_sources": Count("sources", distinct=True),
        }
        return super().get_queryset(request).annotate(**counts)

    @admin.display(description="question", ordering="topic")
    def topic_line(self, run: Run) -> str:
        """Return the question, on one line."""
        return " ".join(run.topic[:120].split())

    @admin.display(description="tasks", ordering="n_tasks")
    def task_count(self, run: Run) -> int:
        """Return how many tasks it has."""
        return int(getattr(run, "n_tasks", 0))

    @admin.display(description="sources", ordering="n_sources")
    def source_count(self, run: Run) -> int:
        """Return how many sources it found."""
        return int(getattr(run, "n_sources", 0))

    @admin.display(description="page")
    def page(self, run: Run) -> SafeString:
        """Return a link to its page."""
        return page_of(run.pk)

    @admin.display(description="its rows")
    def rows(self, run: Run) -> SafeString:
        """Return links to the lists of what it did and found."""
        names = {"toolcall": "tool calls", "note": "notes", "source": "sources",
                 "citation": "citations"}  # fmt: skip
        parts = [
            format_html(
                '<a href="{}?run__exact={}">{}</a>',
                reverse(f"admin:research_{model}_changelist"),
                run.pk,
                label,
            )
            for model, label in names.items()
        ]
        return format_html("{} · {} · {} · {}", *parts)

    @admin.display(description="its log")
    def log(self, run: Run) -> SafeString:
        """Return a link to its events."""
        href = reverse("admin:streaming_eventrow_changelist")
        return format_html('<a href="{}?stream__id__exact={}">events</a>', href, run.pk)


@admin.register(Work)
class WorkAdmin(RowsOfRun):
    """Pieces of work."""

    list_display = ["name", "of_run", "member", "status", "attempt", "error_code", "started_at",
                    "ended_at"]  # fmt: skip
    list_filter = ["status", "error_code", "created_at"]
    search_fields = ["name", "member", "run__topic", "=run__stream__id"]


@admin.register(Task)
class TaskAdmin(RowsOfRun):
    """Planned sub-questions."""

    list_display = ["title", "of_run", "task_id", "step", "status", "member", "error_code", "page"]
    list_filter = ["status", "error_code", "run__created_at"]
    search_fields = ["title", "query", "summary", "run__topic", "=run__stream__id"]

    @admin.display(description="page")
    def page(self, task: Task) -> SafeString:
        """Return a link to its page."""
        return page_of(task.run_id, "tasks", str(task.task_id))
