"""The log: read only, as it is the truth. It may have millions of events."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Substr
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from streaming.events import DATA
from streaming.models import EventRow, Fence, Stream

from .reading import ReadOnly, Rows, RowsInline
from .telling import NOTHING, as_json, line, link_to, list_of

BEGINNING = 700  # characters of an event that a list reads
SEARCHED = 50_000  # of the newest events, where no run is chosen
OFFERED = 200
OF_RUN = "stream__id__exact"


class Kind(admin.SimpleListFilter):
    """What an event tells of: the first part of its type."""

    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Return the kinds that there can be: to ask for those there are would read them all."""
        kinds = sorted({name.partition(".")[0] for name in DATA})
        return [(kind, kind) for kind in kinds]

    def queryset(self, request: HttpRequest, queryset: QuerySet[EventRow]) -> QuerySet[EventRow]:
        """Return the events of this kind."""
        if kind := self.value():
            types = [name for name in DATA if name.partition(".")[0] == kind]
            return queryset.filter(type__in=types)
        return queryset


class InRun(admin.SimpleListFilter):
    """What the events of a run differ in; offered once a run is chosen."""

    parameter_name: str

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Return the values that there are in the run."""
        run_id = _uuid(request.GET.get(OF_RUN, ""))
        if run_id is None:
            return []
        values = EventRow.objects.filter(stream=run_id).order_by(self.parameter_name)
        names = values.values_list(self.parameter_name, flat=True).distinct()[:OFFERED]
        return [(name, name) for name in names if name]

    def queryset(self, request: HttpRequest, queryset: QuerySet[EventRow]) -> QuerySet[EventRow]:
        """Return the events with this value."""
        return queryset.filter(**{self.parameter_name: self.value()}) if self.value() else queryset


class MemberInRun(InRun):
    """Who spoke."""

    title, parameter_name = _("member"), "source_member"


class LaneInRun(InRun):
    """On which lane."""

    title, parameter_name = _("lane"), "stream_token"


@admin.register(EventRow)
class EventAdmin(ReadOnly, Rows):
    """Events."""

    list_display = ["seq", "type", "when", "of_run", "source_member", "work", "data"]  # fmt: skip
    list_display_links = ["seq", "type"]
    list_filter = [Kind, MemberInRun, LaneInRun]
    search_fields = ["text"]
    search_help_text = _("A run's id, a type of event, or words: in the chosen run, else in the "
                         "newest 50,000 events")  # fmt: skip
    sortable_by = ()
    show_facets = admin.ShowFacets.NEVER  # each would count them all
    list_per_page = 100
    ordering = ["-pk"]
    late = ("text",)
    fields = ["of_run", "seq", "type", "when", "source_member", "stream_token", "work", "attempt",
              "whole"]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[EventRow]:
        """Bring the runs along, and the beginnings of the texts."""
        rows: QuerySet[EventRow] = super().get_queryset(request)
        rows = rows.select_related("stream__run")
        late = ("options", "error_message")
        return rows.defer(*self.late, *(f"stream__run__{name}" for name in late)).annotate(
            beginning=Substr("text", 1, BEGINNING)
        )

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Leave the run out where it is the same for all."""
        names = list(self.list_display)
        return [name for name in names if name != "of_run" or OF_RUN not in request.GET]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[EventRow], search_term: str
    ) -> tuple[QuerySet[EventRow], bool]:
        """Find by run, by type, or by words in so many texts as can be read while one waits."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if run_id := _uuid(term):
            return queryset.filter(stream=run_id), False
        if term in DATA:
            return queryset.filter(type=term), False
        if OF_RUN not in request.GET:
            newest = EventRow.objects.aggregate(newest=Max("pk"))["newest"] or 0
            queryset = queryset.filter(pk__gt=newest - SEARCHED)
        for word in term.split()[:8]:
            queryset = queryset.filter(text__icontains=word)
        return queryset, False

    @admin.display(description=_("run"))
    def of_run(self, event: EventRow) -> SafeString | str:
        """Return a link to the run's row."""
        return link_to(getattr(event.stream, "run", None))

    @admin.display(description=_("time"))
    def when(self, event: Any) -> str:
        """Return when it happened."""
        at = _time(event.beginning)
        return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03}" if at else NOTHING

    @admin.display(description=_("data"))
    def data(self, event: Any) -> str:
        """Return its data as JSON, cut."""
        _head, _mark, data = event.beginning.partition('"data":')
        return line(data.removesuffix("}"), 110)

    @admin.display(description=_("event"))
    def whole(self, event: EventRow) -> SafeString:
        """Return all of it."""
        return as_json(json.loads(event.text))


class FenceInline(RowsInline):
    """Who may write in a stream."""

    model = Fence
    fields = ["name", "token", "rows"]
    show_change_link = False


@admin.register(Stream)
class StreamAdmin(ReadOnly, Rows):
    """Streams: the logs themselves."""

    list_display = ["id", "of_run", "epoch", "head", "closed", "last"]
    list_filter = ["closed", "run__created_at"]
    list_select_related = ["run"]
    search_fields = ["=id", "run__topic", "run__user__username"]
    search_help_text = _("Its id, words of the question, or the name of a user")
    ordering = ["-run__created_at", "pk"]
    late = ("run__options", "run__error_message")
    fields = ["id", "of_run", "epoch", "head", "closed", "last", "events"]
    inlines = [FenceInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Stream]:
        """Bring the last event along."""
        rows: QuerySet[Stream] = super().get_queryset(request)
        last = EventRow.objects.filter(stream=OuterRef("pk"), seq=OuterRef("head"))
        return rows.annotate(
            last_type=Subquery(last.values("type")[:1]),
            last_beginning=Subquery(last.values(begun=Substr("text", 1, BEGINNING))[:1]),
        )

    @admin.display(description=_("run"), ordering="run__topic")
    def of_run(self, stream: Stream) -> SafeString | str:
        """Return a link to its run."""
        return link_to(getattr(stream, "run", None))

    @admin.display(description=_("last event"))
    def last(self, stream: Any) -> str:
        """Return what happened last."""
        if not stream.last_type:
            return NOTHING
        at = _time(stream.last_beginning)
        return f"{stream.last_type}, {at:%Y-%m-%d %H:%M:%S}" if at else str(stream.last_type)

    @admin.display(description=_("its log"))
    def events(self, stream: Stream) -> SafeString:
        """Return a link to its events."""
        return list_of(EventRow, _("events"), stream__id__exact=stream.pk)


def _time(beginning: str) -> datetime | None:
    found = re.search(r'"ts":(\d{1,13}),', beginning[:80])
    return datetime.fromtimestamp(int(found[1]) / 1000, UTC) if found else None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
