"""What runs did and found: tool calls, sources, citations."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from research.models import Citation, Source, ToolCall
from research.rendering import host_of
from research.templatetags.research import duration, query, word

from .counting import count_of, recent
from .reading import RowsInline, RowsOfRun
from .telling import NOTHING, as_json, line, link_to, state, whole


class CitationInline(RowsInline):
    """The citations of a source."""

    model = Citation
    fields = ["number", "section", "claim", "quote", "told", "member"]
    readonly_fields = ["told"]

    @admin.display(description=_("verdict"))
    def told(self, citation: Citation) -> SafeString | str:
        """Return what the verifier said."""
        return state(citation.verdict)


@admin.register(ToolCall)
class ToolCallAdmin(RowsOfRun):
    """Tool calls."""

    list_display = ["tool", "asked", "of_run", "member", "work", "told", "took", "created",
                    "page"]  # fmt: skip
    list_filter = [recent("tool", _("tool")), recent("status", _("status"), word), "created_at"]
    search_fields = ["=tool_call_id", "member", "args", "run__topic", "=run__stream__id"]
    search_help_text = _("What it was asked, a member, its id, words of the question, a run's id")
    ordering = ["-pk"]
    late = ("result", "run__options", "run__error_message")
    fields = ["of_run", "of_task", "tool_call_id", "tool", "member", "work", "attempt", "told",
              "took", "created_at", "told_args", "told_result", "page"]  # fmt: skip

    @admin.display(description=_("asked for"))
    def asked(self, call: ToolCall) -> str:
        """Return what it was asked, on one line."""
        return line(query(call.args), 70) or NOTHING

    @admin.display(description=_("status"), ordering="status")
    def told(self, call: ToolCall) -> SafeString | str:
        """Return its status."""
        return state(call.status)

    @admin.display(description=_("took"), ordering="duration_ms")
    def took(self, call: ToolCall) -> str:
        """Return how long it took."""
        return duration(call.duration_ms) or NOTHING

    @admin.display(description=_("arguments"))
    def told_args(self, call: ToolCall) -> SafeString:
        """Return what it was given."""
        return as_json(call.args)

    @admin.display(description=_("result"))
    def told_result(self, call: ToolCall) -> SafeString:
        """Return what it answered."""
        return whole(call.result)

    def place(self, row: Any) -> str:
        """Return where its page is."""
        return f"tools/{quote(row.tool_call_id, safe='')}/"


@admin.register(Source)
class SourceAdmin(RowsOfRun):
    """Sources."""

    list_display = ["title_line", "source_id", "of_run", "provider", "address", "member", "cited",
                    "created", "page"]  # fmt: skip
    list_filter = [
        recent("provider", _("provider")),
        ("archive", admin.EmptyFieldListFilter),
        "created_at",
    ]
    search_fields = ["title", "uri", "member", "run__topic", "=run__stream__id"]
    search_help_text = _("Words of the title or the question, an address, a member, a run's id")
    ordering = ["-pk"]
    late = ("run__options", "run__error_message")
    fields = ["of_run", "of_task", "source_id", "title", "address", "site", "provider", "member",
              "finders", "aliases", "media_type", "published", "fetched_at", "of_document",
              "of_archive", "created_at", "page"]  # fmt: skip
    inlines = [CitationInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        """Count how often each source is cited."""
        rows: QuerySet[Source] = super().get_queryset(request)
        return rows.annotate(n_cited=count_of(Citation, "source"))

    @admin.display(description=_("title"), ordering="title")
    def title_line(self, source: Source) -> str:
        """Return the title, cut."""
        return line(source.title, 80) or NOTHING

    @admin.display(description=_("address"), ordering="uri")
    def address(self, source: Source) -> SafeString | str:
        """Return where it is, as a link if it is on the web."""
        if not host_of(source.uri):
            return line(source.uri, 60)
        link = '<a href="{}" rel="noopener noreferrer nofollow">{}</a>'
        return format_html(link, source.uri, line(source.uri, 60))

    @admin.display(description=_("cited"), ordering="n_cited")
    def cited(self, source: Any) -> int:
        """Return how often the report cites it."""
        return int(source.n_cited)

    @admin.display(description=_("document"))
    def of_document(self, source: Source) -> SafeString | str:
        """Return a link to the document that it is."""
        return link_to(source.document)

    @admin.display(description=_("text"))
    def of_archive(self, source: Source) -> SafeString | str:
        """Return a link to its text."""
        return link_to(source.archive)

    def place(self, row: Any) -> str:
        """Return where its page is."""
        return f"sources/{row.source_id}/"


@admin.register(Citation)
class CitationAdmin(RowsOfRun):
    """Citations."""

    list_display = ["number", "claim_line", "told", "of_source", "of_run", "section", "member",
                    "page"]  # fmt: skip
    list_filter = [recent("verdict", _("verdict"), word), "run__created_at"]
    list_select_related = ["run", "source"]
    search_fields = ["claim", "quote", "member", "source__title", "run__topic",
                     "=run__stream__id"]  # fmt: skip
    search_help_text = _("Words of the claim, the quote, the source or the question, a run's id")
    ordering = ["-pk"]
    late = ("quote", "run__options", "run__error_message")
    fields = ["of_run", "number", "section", "claim", "told", "of_source", "quote", "start", "end",
              "archive_hash", "member", "page"]  # fmt: skip

    @admin.display(description=_("source"), ordering="source__title")
    def of_source(self, citation: Citation) -> SafeString | str:
        """Return a link to its source."""
        return link_to(citation.source)

    @admin.display(description=_("claim"))
    def claim_line(self, citation: Citation) -> str:
        """Return the claim, cut."""
        return line(citation.claim, 100) or NOTHING

    @admin.display(description=_("verdict"), ordering="verdict")
    def told(self, citation: Citation) -> SafeString | str:
        """Return what the verifier said."""
        return state(citation.verdict) if citation.verdict else word("pending")

    def place(self, row: Any) -> str:
        """Return where its passage is."""
        span = f"?start={row.start}&end={row.end}#quote" if row.end else ""
        return f"sources/{row.source.source_id}/{span}"
