"""The report, section by section, and what it stands on: sources and notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from research.cards import SectionCard
from research.text.markers import find_markers

from .facts import Facts
from .piece import Piece
from .timeline import said


def report(facts: Facts) -> Iterator[Piece]:
    """Yield the sections, written or being written, and what stands around them."""
    state = facts.state
    entries: dict[int, tuple[str, str]] = {}
    begun = facts.last("section")
    gone = facts.gone_last.get("message", 0)
    for message in sorted(state.messages.values(), key=lambda card: card.born):
        number = message.section
        if message.kind == "section" and number is not None and number not in state.sections:
            yield said(facts, message, "report", number)
            entries[number] = (f"msg-{message.message_id}", message.title or "")
            begun = max(begun, message.born)
    for section in state.report():
        yield _section(facts, section)
        entries[section.section] = (f"section-{section.section}", section.title)
    contents = [entries[number] for number in sorted(entries)]
    data: dict[str, Any] = {"entries": contents}
    yield Piece("contents-list", "contents", 0, "contents", max(begun, gone), data)
    yield from _endnotes(facts)


def _section(facts: Facts, section: SectionCard) -> Piece:
    state = facts.state
    changed = section.changed
    checks, sources = {}, {}
    for ref in section.citations:
        number, source_id = ref["number"], ref["source_id"]
        check = state.citations.get(number)
        source = state.sources.get(source_id)
        changed = max(
            changed,
            check.changed if check else state.dropped.get(f"citation:{number}", 0),
            source.changed if source else state.dropped.get(f"source:{source_id}", 0),
        )
        checks[number], sources[source_id] = check, source
    data: dict[str, Any] = {"card": section, "checks": checks, "sources": sources}
    number = section.section
    return Piece(f"section-{number}", "report", number, "section", changed, data)


def _endnotes(facts: Facts) -> Iterator[Piece]:
    state = facts.state
    tasks = [state.tasks[number] for number in state.run.gaps if number in state.tasks]
    changed = max([state.run.changed, *(task.changed for task in tasks)])
    data: dict[str, Any] = {"tasks": tasks, "run": state.run}
    yield Piece("gaps", "endnotes", 0, "gaps", changed, data)
    refs: dict[int, list[dict[str, Any]]] = {}
    for _, ref in sorted(state.citation_refs().items()):
        refs.setdefault(ref["source_id"], []).append(ref)
    cited = [(state.sources.get(source_id), refs[source_id]) for source_id in refs]
    last = facts.last("section", "source")
    yield Piece("references", "endnotes", 1, "references", last, {"cited": cited})


def evidence(facts: Facts, quiet: int) -> Iterator[Piece]:
    """Yield sources and notes, without those that are as they were at `quiet`."""
    state = facts.state
    numbers: dict[int, list[int]] = {}
    cited_at: dict[int, int] = {}
    for section in state.report():
        for ref in section.citations:
            numbers.setdefault(ref["source_id"], []).append(ref["number"])
            at = max(cited_at.get(ref["source_id"], 0), section.born)
            cited_at[ref["source_id"]] = at
    uncited = facts.gone_last.get("section", 0)
    recited = max([uncited, *cited_at.values()])
    for source in state.sources.values():
        if max(source.changed, recited) <= quiet:
            continue
        number = source.source_id
        member = facts.member(source)
        changed = max(
            source.changed, cited_at.get(number, 0), uncited, member.born if member else 0
        )
        works = (work.partition(":") for work, _ in source.finders)
        data: dict[str, Any] = {
            "card": source,
            "member": member,
            "numbers": numbers.get(number, []),
            "tasks": sorted({number for kind, _, number in works if kind == "task"}),
        }
        yield Piece(f"source-{number}", "sources", number, "source", changed, data)
    for note in state.notes.values():
        if note.changed <= quiet:
            continue
        changed = max(note.changed, facts.settled(note))
        named = {found.marker.source for found in find_markers(note.content)}
        data = {"card": note, "member": facts.member(note), "named": sorted(named)}
        name = f"notecard-{note.note_id}"
        yield Piece(name, "notes", note.note_id, "notecard", changed, data)
