"""Pieces: the run page as a flat, ordered list of fragments, a pure function of `RunState`.

The page is these pieces, put into their containers; what the websocket sends is the same pieces,
those that changed. `changed` is the `seq` of the last event that a piece depends on in any way, so
that a piece and its `changed` name one text for ever.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from research.cards import Card, MemberCard, MessageCard, MomentCard, NoteCard, TaskCard, ToolCard
from research.state import RunState

from .stages import stages

LEAD, REPORT = "lead", "report"
"""The lanes that are no task's: what the leader does, and what writer and verifier do."""

Text = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Piece:
    """One fragment of the page."""

    id: str
    into: str
    order: int
    template: str
    changed: int
    data: dict[str, Any] = field(default_factory=dict)
    message: str = ""
    """The message whose text grows at the end of this piece, if one does."""
    settled: int = 0
    """Since when everything but that text is as it is."""
    holds: tuple[str, ...] = ()
    """The containers inside it. Such a piece never changes."""


@dataclass(frozen=True)
class Page:
    """Makes the pieces of a state; with `lanes`, only those of these lanes' own page."""

    state: RunState
    lanes: frozenset[str] | None = None

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces in the order of the page, each after what it stands in."""
        if self.lanes is None:
            yield from self._overview()
        for task in self.state.tasks.values():
            yield from self._lane(task)
        for card in self.state.timeline():
            if (piece := self._item(card)) and self._shows(piece.into):
                yield piece
        if self.lanes is None:
            yield from self._report()
            yield from self._evidence()

    def gone(self, after: int) -> Iterator[str]:
        """Yield ids that may be on a page rendered at `after` and stand for nothing now."""
        for key, seq in self.state.dropped.items():
            if seq > after:
                kind, _, rest = key.partition(":")
                yield from (f"{prefix}-{rest}" for prefix in PREFIXES.get(kind, ()))
        for message in self.state.messages.values():
            section = self.state.sections.get(message.section or 0)
            if message.kind == "section" and section and section.born > after:
                yield f"msg-{message.message_id}"

    # --- what several pieces need --------------------------------------------------------------
    @cached_property
    def _gone_last(self) -> dict[str, int]:
        """When a card of each kind was last dropped."""
        last: dict[str, int] = {}
        for key, seq in self.state.dropped.items():
            kind = key.partition(":")[0]
            last[kind] = max(last.get(kind, 0), seq)
        return last

    @cached_property
    def _lanes(self) -> dict[str | None, TaskCard]:
        return {task.stream_token: task for task in self.state.tasks.values()}

    def _last(self, *kinds: str) -> int:
        """Return when cards of these kinds, of which the page shows the number, changed last."""
        last = max(self._gone_last.get(kind, 0) for kind in kinds)
        for kind in kinds:
            cards: dict[Any, Card] = getattr(self.state, kind + "s")
            last = max(last, max((card.changed for card in cards.values()), default=0))
        return last

    def _member(self, card: Card) -> MemberCard | None:
        return self.state.members.get(card.member or "")

    def _token(self, card: Card) -> str:
        """Return the lane that a card stands in."""
        if card.stream_token == REPORT:
            return REPORT
        return card.stream_token or LEAD if card.stream_token in self._lanes else LEAD

    def _shows(self, container: str) -> bool:
        return self.lanes is None or container.partition("_")[2] in self.lanes

    def _settled(self, card: Card) -> int:
        """Return since when what a lane's card shows besides itself is as it is."""
        member, task = self._member(card), self._lanes.get(card.stream_token)
        return max(card.born, member.born if member else 0, task.born if task else 0)

    # --- head, plan, members -------------------------------------------------------------------
    def _overview(self) -> Iterator[Piece]:
        state = self.state
        yield Piece("run-head", "head", 0, "head", state.run.changed, {"run": state.run})
        last = max(state.run.changed, self._last("task", "source", "note", "section", "citation"))
        yield Piece("stages", "rail", 0, "stages", last, {"stages": stages(state)})
        for name in ("section", "source", "note"):
            count = len(getattr(state, name + "s"))
            last = self._last(name)
            yield Piece(f"count-{name}", f"badge_{name}", 0, "count", last, {"count": count})
        for task in state.in_plan_order():
            member = self._member(task)
            changed = max(task.changed, member.born if member else 0)
            data = {"task": task, "member": member}
            yield Piece(f"plan-{task.task_id}", "plan", task.step, "task", changed, data)
        for member in state.members.values():
            name = hashlib.sha256(member.name.encode()).hexdigest()[:12]
            task_of = state.tasks.get(member.task_id or 0)
            ended = state.run.changed if state.run.ended else 0
            changed = max(member.changed, task_of.changed if task_of else 0, ended)
            data = {"member": member, "task": task_of, "active": member.activity and not ended}
            yield Piece(f"member-{name}", "members", member.index, "member", changed, data)

    # --- the timeline --------------------------------------------------------------------------
    def _lane(self, task: TaskCard) -> Iterator[Piece]:
        token = task.stream_token or ""
        head, items = f"head_{token}", f"items_{token}"
        if self.lanes is None:
            order, born, holds = task.task_id, task.born, (head, items)
            yield Piece(f"lane-{token}", "timeline", order, "lane", born, holds=holds)
        if self._shows(head):
            member = self._member(task)
            changed = max(task.changed, member.born if member else 0)
            data = {"task": task, "member": member}
            yield Piece(f"lanehead-{token}", head, 0, "lanehead", changed, data)

    def _item(self, card: Card) -> Piece | None:
        into = f"items_{self._token(card)}"
        settled = self._settled(card)
        changed = max(card.changed, settled)
        data = {"card": card, "member": self._member(card)}
        match card:
            case ToolCard():
                return Piece(f"tool-{card.tool_call_id}", into, card.born, "tool", changed, data)
            case NoteCard():
                return Piece(f"note-{card.note_id}", into, card.born, "note", changed, data)
            case MomentCard():
                return Piece(f"moment-{card.born}", into, card.born, "moment", changed, data)
            case MessageCard(kind="section") if card.section is not None:
                if card.status == "streaming":
                    changed = settled  # its text is not shown here
                name = f"line-{card.message_id}"
                return Piece(name, into, card.born, "line", changed, data)
            case MessageCard():
                return self._said(card, into, card.born)
        return None

    def _said(self, card: MessageCard, into: str, order: int) -> Piece:
        """Return a message: growing text while it comes, Markdown when it is there."""
        settled = self._settled(card)
        back = self.state.dropped.get(f"section:{card.section}", 0) if card.section else 0
        settled = max(settled, back)
        text: Text = partial(self.state.text_of, card.message_id)
        data = {"card": card, "member": self._member(card), "text": text}
        live = card.status == "streaming"
        return Piece(
            f"msg-{card.message_id}",
            into,
            order,
            "streaming" if live else "message",
            max(card.changed, settled),
            data,
            message=card.message_id if live else "",
            settled=settled,
        )

    # --- the report and what it stands on ------------------------------------------------------
    def _report(self) -> Iterator[Piece]:
        state = self.state
        for message in sorted(state.messages.values(), key=lambda card: card.born):
            number = message.section
            if message.kind == "section" and number is not None and number not in state.sections:
                yield self._said(message, "report", number)
        for section in state.report():
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
            data = {"card": section, "checks": checks, "sources": sources}
            name = f"section-{section.section}"
            yield Piece(name, "report", section.section, "section", changed, data)
        tasks = [state.tasks[number] for number in state.run.gaps if number in state.tasks]
        changed = max([state.run.changed, *(task.changed for task in tasks)])
        data = {"tasks": tasks, "run": state.run}
        yield Piece("gaps", "endnotes", 0, "gaps", changed, data)
        refs: dict[int, list[dict[str, Any]]] = {}
        for _, ref in sorted(state.citation_refs().items()):
            refs.setdefault(ref["source_id"], []).append(ref)
        cited = [(state.sources.get(source_id), refs[source_id]) for source_id in refs]
        last = self._last("section", "source")
        yield Piece("references", "endnotes", 1, "references", last, {"cited": cited})

    def _evidence(self) -> Iterator[Piece]:
        state = self.state
        numbers: dict[int, list[int]] = {}
        cited_at: dict[int, int] = {}
        for section in state.report():
            for ref in section.citations:
                numbers.setdefault(ref["source_id"], []).append(ref["number"])
                at = max(cited_at.get(ref["source_id"], 0), section.born)
                cited_at[ref["source_id"]] = at
        uncited = self._gone_last.get("section", 0)
        for source in state.sources.values():
            number = source.source_id
            member = self._member(source)
            changed = max(
                source.changed, cited_at.get(number, 0), uncited, member.born if member else 0
            )
            data = {"card": source, "member": member, "numbers": numbers.get(number, [])}
            yield Piece(f"source-{number}", "sources", number, "source", changed, data)
        for note in state.notes.values():
            changed = max(note.changed, self._settled(note))
            data = {"card": note, "member": self._member(note), "whole": True}
            yield Piece(f"notecard-{note.note_id}", "notes", note.note_id, "note", changed, data)


PREFIXES = {
    "tool": ("tool",),
    "message": ("msg", "line"),
    "note": ("note", "notecard"),
    "section": ("section",),
    "source": ("source",),
    "moment": ("moment",),
}
"""Which pieces go with a card of each kind."""
