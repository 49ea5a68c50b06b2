"""What runs are made of: works, tasks, members."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from research.forms import NoteForm
from research.models import Member, Note, Source, Steer, Task, ToolCall, Work
from research.templatetags.research import word

from .counting import count_of, recent
from .reading import RowsInline, RowsOfRun
from .telling import NOTHING, as_json, line, moment, state, took, whole


class ToolCallInline(RowsInline):
    """The tool calls of a task."""

    model = ToolCall
    fields = ["tool", "member", "attempt", "told", "duration_ms", "created_at"]
    readonly_fields = ["told", "created_at"]
    late = ("args", "result")

    @admin.display(description=_("status"))
    def told(self, call: ToolCall) -> SafeString | str:
        """Return its status."""
        return state(call.status)


class NoteInline(RowsInline):
    """The notes of a task."""

    model = Note
    fields = ["note_id", "title", "kind", "member", "created_at"]
    readonly_fields = ["kind", "created_at"]
    late = ("content",)

    @admin.display(description=_("kind"))
    def kind(self, note: Note) -> str:
        """Return what sort of note it is."""
        return NoteForm.kind(note.note_type)


@admin.register(Work)
class WorkAdmin(RowsOfRun):
    """Pieces of work."""

    list_display = ["name", "of_run", "member", "told", "attempt", "error_code", "waited", "took",
                    "created"]  # fmt: skip
    list_filter = ["status", recent("error_code", _("error code")), "created_at"]
    search_fields = ["name", "member", "run__topic", "=run__stream__id"]
    search_help_text = _("A name such as task:3, a member, words of the question, or a run's id")
    ordering = ["-pk"]
    late = ("input", "output", "talk", "run__options", "run__error_message")
    fields = ["of_run", "name", "member", "told", "attempt", "pauses", "error_code", "created_at",
              "started_at", "ended_at", "waited", "took", "told_input", "told_output"]  # fmt: skip

    @admin.display(description=_("status"), ordering="status")
    def told(self, work: Work) -> SafeString | str:
        """Return its status."""
        return state(work.status)

    @admin.display(description=_("waited"), ordering=F("started_at") - F("created_at"))
    def waited(self, work: Work) -> str:
        """Return how long it waited to be begun, or waits."""
        return took(work.created_at, work.started_at or work.ended_at)

    @admin.display(description=_("took"), ordering=F("ended_at") - F("started_at"))
    def took(self, work: Work) -> str:
        """Return how long it took, or has taken."""
        return took(work.started_at, work.ended_at)

    @admin.display(description=_("what it is to do"))
    def told_input(self, work: Work) -> SafeString:
        """Return its input."""
        return as_json(work.input)

    @admin.display(description=_("what it has made"))
    def told_output(self, work: Work) -> SafeString:
        """Return its output."""
        return as_json(work.output)


@admin.register(Task)
class TaskAdmin(RowsOfRun):
    """Planned sub-questions."""

    list_display = ["title_line", "of_run", "task_id", "told", "member", "error_code",
                    "calls", "notes", "sources", "page"]  # fmt: skip
    list_filter = ["status", recent("error_code", _("error code")), "run__created_at"]
    search_fields = ["title", "query", "summary", "run__topic", "=run__stream__id"]
    search_help_text = _("Words of the task or of the question, or a run's id")
    ordering = ["-pk"]
    late = ("summary", "intent", "run__options", "run__error_message")
    fields = ["of_run", "task_id", "step", "title", "intent", "query", "told", "member",
              "error_code", "told_summary", "page"]  # fmt: skip
    inlines = [ToolCallInline, NoteInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Task]:
        """Count what each task has brought."""
        rows: QuerySet[Task] = super().get_queryset(request)
        return rows.annotate(
            n_calls=count_of(ToolCall, "task"),
            n_notes=count_of(Note, "task"),
            n_sources=count_of(Source, "task"),
        )

    @admin.display(description=_("title"), ordering="title")
    def title_line(self, task: Task) -> str:
        """Return the title, cut."""
        return line(task.title, 80)

    @admin.display(description=_("status"), ordering="status")
    def told(self, task: Task) -> SafeString | str:
        """Return its status."""
        return state(task.status)

    @admin.display(description=_("tool calls"), ordering="n_calls")
    def calls(self, task: Any) -> int:
        """Return how many tool calls it took."""
        return int(task.n_calls)

    @admin.display(description=_("notes"), ordering="n_notes")
    def notes(self, task: Any) -> int:
        """Return how many notes it has."""
        return int(task.n_notes)

    @admin.display(description=_("sources"), ordering="n_sources")
    def sources(self, task: Any) -> int:
        """Return how many sources it found first."""
        return int(task.n_sources)

    @admin.display(description=_("summary"))
    def told_summary(self, task: Task) -> SafeString:
        """Return what came out."""
        return whole(task.summary)

    def place(self, row: Any) -> str:
        """Return where its page is."""
        return f"tasks/{row.task_id}/"


@admin.register(Member)
class MemberAdmin(RowsOfRun):
    """Who speaks in runs."""

    list_display = ["name", "role", "told", "of_run", "user", "begun"]
    list_filter = ["role", recent("status", _("status"), word), "run__created_at"]
    list_select_related = ["run__user"]
    search_fields = ["name", "run__topic", "=run__stream__id", "run__user__username"]
    search_help_text = _("A name, words of the question, the name of a user, or a run's id")
    ordering = ["-pk"]
    late = ("run__options", "run__error_message")
    fields = ["of_run", "user", "name", "role", "told"]

    @admin.display(description=_("status"), ordering="status")
    def told(self, member: Member) -> SafeString | str:
        """Return its status."""
        return state(member.status)

    @admin.display(description=_("user"), ordering="run__user__username")
    def user(self, member: Member) -> str:
        """Return whose run it is in."""
        return member.run.user.get_username()

    @admin.display(description=_("run begun"), ordering="run__created_at")
    def begun(self, member: Member) -> str:
        """Return when its run began."""
        return moment(member.run.created_at)


@admin.register(Steer)
class SteerAdmin(RowsOfRun):
    """What people said to teams."""

    list_display = ["text_line", "by", "to", "told_heard", "missed", "of_run", "created", "page"]
    list_filter = ["missed", "created_at"]
    search_fields = ["text", "by", "to", "run__topic", "=run__stream__id"]
    search_help_text = _("Words of what was said or of the question, a name, or a run's id")
    date_hierarchy = "created_at"
    ordering = ["-pk"]
    late = ("run__options", "run__error_message")
    fields = ["of_run", "number", "by", "to", "text", "told_heard", "missed", "created_at", "page"]

    @admin.display(description=_("text"), ordering="text")
    def text_line(self, steer: Steer) -> str:
        """Return what was said, cut."""
        return line(steer.text, 100)

    @admin.display(description=_("heard by"))
    def told_heard(self, steer: Steer) -> str:
        """Return who was asked with it."""
        return ", ".join(map(str, steer.heard)) or NOTHING
