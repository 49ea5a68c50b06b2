"""What runs did and found."""

from __future__ import annotations

from urllib.parse import quote

from django.contrib import admin
from django.utils.safestring import SafeString

from research.models import Citation, Note, Source, ToolCall

from .reading import RowsInline, RowsOfRun, link_to, page_of


class CitationInline(RowsInline):
    """The citations of a source."""

    model = Citation
    fields = ["number", "section", "claim", "quote", "verdict", "member"]


@admin.register(ToolCall)
class ToolCallAdmin(RowsOfRun):
    """Tool calls."""

    list_display = ["tool", "tool_call_id", "of_run", "member", "work", "attempt", "status",
                    "duration_ms", "created_at", "page"]  # fmt: skip
    list_filter = ["tool", "status", "member", "created_at"]
    search_fields = ["=tool_call_id", "args", "run__topic", "=run__stream__id"]
    date_hierarchy = "created_at"

    @admin.display(description="page")
    def page(self, call: ToolCall) -> SafeString:
        """Return a link to its page."""
        return page_of(call.run_id, "tools", quote(call.tool_call_id, safe=""))


@admin.register(Note)
class NoteAdmin(RowsOfRun):
    """Notes."""

    list_display = ["title", "of_run", "of_task", "note_type", "member", "tags", "created_at"]
    list_select_related = ["run", "task"]
    list_filter = ["note_type", "member", "created_at"]
    search_fields = ["title", "content", "run__topic", "=run__stream__id"]

    @admin.display(description="task", ordering="task__title")
    def of_task(self, note: Note) -> SafeString:
        """Return a link to its task."""
        return link_to(note.task)


@admin.register(Source)
class SourceAdmin(RowsOfRun):
    """Sources."""

    list_display = ["title", "source_id", "of_run", "provider", "uri", "member", "created_at",
                    "page"]  # fmt: skip
    list_filter = ["provider", "member", "created_at"]
    search_fields = ["title", "uri", "run__topic", "=run__stream__id"]
    fields = ["run", "source_id", "title", "uri", "provider", "member", "finders", "task",
              "document", "archive", "created_at"]  # fmt: skip
    inlines = [CitationInline]

    @admin.display(description="page")
    def page(self, source: Source) -> SafeString:
        """Return a link to its page."""
        return page_of(source.run_id, "sources", str(source.source_id))


@admin.register(Citation)
class CitationAdmin(RowsOfRun):
    """Citations."""

    list_display = ["number", "of_run", "of_source", "verdict", "claim_line", "member"]
    list_select_related = ["run", "source"]
    list_filter = ["verdict", "member", "run__created_at"]
    search_fields = ["claim", "quote", "source__title", "run__topic", "=run__stream__id"]

    @admin.display(description="source", ordering="source__title")
    def of_source(self, citation: Citation) -> SafeString:
        """Return a link to its source."""
        return link_to(citation.source)

    @admin.display(description="claim")
    def claim_line(self, citation: Citation) -> str:
        """Return the claim, cut."""
        return citation.claim[:120]
