"""The log: read only, as it is the truth."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from research.models import Run
from streaming.models import EventRow

from .reading import ReadOnly, link_to


@admin.register(EventRow)
class EventAdmin(ReadOnly, admin.ModelAdmin[EventRow]):
    """Events."""

    list_display = ["seq", "type", "of_run", "source_member", "stream_token", "work", "attempt",
                    "text_line"]  # fmt: skip
    list_display_links = ["seq", "type"]
    list_filter = ["type", "source_member", "stream_token"]
    search_fields = ["=stream__id", "type", "text"]
    ordering = ["-pk"]
    list_per_page = 100
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[EventRow]:
        """Bring the runs along."""
        return super().get_queryset(request).select_related("stream__run")

    @admin.display(description="run")
    def of_run(self, event: EventRow) -> SafeString:
        """Return a link to the run's row."""
        run: Run | None = getattr(event.stream, "run", None)
        return link_to(run)

    @admin.display(description="event")
    def text_line(self, event: EventRow) -> str:
        """Return the event as JSON, cut."""
        return event.text[:160]
