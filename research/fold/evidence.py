"""Steps of the fold: sources, notes, the report, and what is void."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from research.cards import CitationCard, MomentCard, NoteCard, SectionCard, SourceCard
from research.state import RunState
from streaming.events import Event

from .steps import base, change, on, tell


@on("source.found")
def _source_found(state: RunState, event: Event) -> None:
    data = event.data
    finder = (event.work or "", event.attempt or 0)
    known = state.sources.get(data["source_id"])
    if known:
        finders = known.finders if finder in known.finders else [*known.finders, finder]
        change(state.sources, data["source_id"], event, finders=finders)
        return
    state.sources[data["source_id"]] = SourceCard(
        **base(event),
        source_id=data["source_id"],
        title=data["title"],
        uri=data["uri"],
        provider=data["provider"],
        document_id=data.get("document_id"),
        context=data.get("context", ""),
        finders=[finder],
    )
    state.dropped.pop(f"source:{data['source_id']}", None)


@on("source.fetched")
def _source_fetched(state: RunState, event: Event) -> None:
    data = event.data
    archived = {
        "hash": data["hash"],
        "length": data["length"],
        "fetched": event.ts,
        "media_type": data.get("media_type", ""),
        "published": data.get("published", ""),
    }
    change(state.sources, data["source_id"], event, **archived)


@on("note.saved")
def _note_saved(state: RunState, event: Event) -> None:
    data = event.data
    fields = {
        "title": data["title"],
        "note_type": data.get("note_type", "general"),
        "tags": data.get("tags", []),
        "content": data["content"],
        "blob": (data.get("blob") or {}).get("hash"),
    }
    if data["note_id"] in state.notes:
        change(state.notes, data["note_id"], event, **fields)
    else:
        state.notes[data["note_id"]] = NoteCard(**base(event), note_id=data["note_id"], **fields)


@on("note.deleted")
def _note_deleted(state: RunState, event: Event) -> None:
    if state.notes.pop(event.data["note_id"], None):
        state.dropped[f"note:{event.data['note_id']}"] = event.seq


@on("report.section")
def _report_section(state: RunState, event: Event) -> None:
    data = event.data
    state.sections[data["section"]] = SectionCard(
        **base(event) | {"task_id": data.get("task_id")},
        section=data["section"],
        kind=data["kind"],
        title=data["title"],
        text=data["text"],
        blob=(data.get("blob") or {}).get("hash"),
        citations=data.get("citations", []),
        stripped=data.get("stripped", []),
    )


@on("citation.checked")
def _citation_checked(state: RunState, event: Event) -> None:
    data = event.data
    state.citations[data["number"]] = CitationCard(
        **base(event),
        number=data["number"],
        section=data["section"],
        source_id=data["source_id"],
        verdict=data["verdict"],
        reason=data["reason"],
        quote=data.get("quote", ""),
        start=data.get("start"),
        end=data.get("end"),
        brought_by=data.get("brought_by"),
    )
    change(state.sections, data["section"], event)  # the section shows its verdicts


@on("error.shown", "status", "waiting", "limit.reached")
def _moment(state: RunState, event: Event) -> None:
    tell(state, event)


@on("attempt.discarded")
def _attempt_discarded(state: RunState, event: Event) -> None:
    gone = (event.data["work"], event.data["attempt"])
    for name, cards in _droppable(state):
        for key in [key for key, card in cards.items() if (card.work, card.attempt) == gone]:
            del cards[key]
            state.dropped[f"{name}:{key}"] = event.seq
    for key, source in list(state.sources.items()):
        finders = [finder for finder in source.finders if tuple(finder) != gone]
        if not finders:
            del state.sources[key]
            state.dropped[f"source:{key}"] = event.seq
        elif len(finders) < len(source.finders):
            change(state.sources, key, event, finders=finders)
    state.moments[event.seq] = MomentCard(
        **base(event) | {"work": None, "attempt": None},
        kind=event.type,
        text=event.data["reason"],
    )


def _droppable(state: RunState) -> Iterator[tuple[str, dict[Any, Any]]]:
    """Return the cards that stand or fall with the attempt that made them."""
    yield "tool", state.tools
    yield "message", state.messages
    yield "note", state.notes
    yield "section", state.sections
    yield "citation", state.citations
    yield "moment", state.moments
