"""Pieces: the run page as a flat, ordered list of fragments, a pure function of `RunState`.

The page is these pieces, put into their containers; what the websocket sends is the same pieces,
those that changed. `changed` is the `seq` of the last event that a piece depends on in any way, so
that a piece and its `changed` name one text for ever.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from research.cards import Card, MessageCard, MomentCard, NoteCard, TaskCard, ToolCard

from .facts import Facts
from .piece import Piece
from .stages import stages

Text = Callable[[], str]


@dataclass(frozen=True)
class Page(Facts):
    """Makes the pieces of a state; with `lanes`, only those of these lanes' own page."""

    lanes: frozenset[str] | None = None

    def pieces(self, after: int = -1) -> Iterator[Piece]:
        """Yield the pieces in the order of the page, each after what it stands in.

        Many of those that are as they were at `after` are left out: a long run has hundreds.
        """
        quiet = after if after >= self.joined else -1
        if self.lanes is None:
            yield from self._overview()
        for task in self.state.tasks.values():
            yield from self._lane(task)
        for card in self.state.timeline():
            if card.changed > quiet and (piece := self._item(card)) and self._shows(piece.into):
                yield piece
        if self.lanes is None:
            yield from self._report()
            yield from self._evidence(quiet)

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

    def _shows(self, container: str) -> bool:
        return self.lanes is None or container.partition("_")[2] in self.lanes

    # --- head, plan, members -------------------------------------------------------------------
    def _overview(self) -> Iterator[Piece]:
        state = self.state
        yield Piece("run-head", "head", 0, "head", state.run.changed, {"run": state.run})
        last = max(state.run.changed, self.last("task", "source", "note", "section", "citation"))
        yield Piece("stages", "rail", 0, "stages", last, {"stages": stages(state)})
        for name in ("section", "source", "note"):
            count = len(getattr(state, name + "s"))
            last = self.last(name)
            yield Piece(f"count-{name}", f"badge_{name}", 0, "count", last, {"count": count})
        for task in state.in_plan_order():
            member = self.carrier(task)
            changed = max(task.changed, member.born if member else 0)
            data: dict[str, Any] = {"task": task, "member": member}
            yield Piece(f"plan-{task.task_id}", "plan", task.step, "task", changed, data)
        for member in state.members.values():
            name = hashlib.sha256(member.name.encode()).hexdigest()[:12]
            task_of = state.tasks.get(member.task_id or 0)
            ended = state.run.changed if state.run.ended else 0
            changed = max(member.changed, task_of.changed if task_of else 0, ended)
            active = bool(member.activity) and not ended
            data = {"member": member, "task": task_of, "active": active}
            yield Piece(f"member-{name}", "members", member.index, "member", changed, data)

    # --- the timeline --------------------------------------------------------------------------
    def _lane(self, task: TaskCard) -> Iterator[Piece]:
        token = task.stream_token or ""
        head, items = f"head_{token}", f"items_{token}"
        if self.lanes is None:
            order, born, holds = task.task_id or 0, task.born, (head, items)
            yield Piece(f"lane-{token}", "timeline", order, "lane", born, holds=holds)
        if self._shows(head):
            member = self.carrier(task)
            changed = max(task.changed, member.born if member else 0)
            data: dict[str, Any] = {"task": task, "member": member}
            yield Piece(f"lanehead-{token}", head, 0, "lanehead", changed, data)

    def _item(self, card: Card) -> Piece | None:
        into = f"items_{self.token(card)}"
        settled = self.settled(card)
        changed = max(card.changed, settled)
        data: dict[str, Any] = {"card": card, "member": self.member(card)}
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
        settled = self.settled(card)
        back = self.state.dropped.get(f"section:{card.section}", 0) if card.section else 0
        settled = max(settled, back)
        text: Text = partial(self.state.text_of, card.message_id)
        data: dict[str, Any] = {"card": card, "member": self.member(card), "text": text}
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
            data: dict[str, Any] = {"card": section, "checks": checks, "sources": sources}
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
        last = self.last("section", "source")
        yield Piece("references", "endnotes", 1, "references", last, {"cited": cited})

    def _evidence(self, quiet: int) -> Iterator[Piece]:
        state = self.state
        numbers: dict[int, list[int]] = {}
        cited_at: dict[int, int] = {}
        for section in state.report():
            for ref in section.citations:
                numbers.setdefault(ref["source_id"], []).append(ref["number"])
                at = max(cited_at.get(ref["source_id"], 0), section.born)
                cited_at[ref["source_id"]] = at
        uncited = self.gone_last.get("section", 0)
        recited = max([uncited, *cited_at.values()])
        for source in state.sources.values():
            if max(source.changed, recited) <= quiet:
                continue
            number = source.source_id
            member = self.member(source)
            changed = max(
                source.changed, cited_at.get(number, 0), uncited, member.born if member else 0
            )
            data: dict[str, Any] = {
                "card": source,
                "member": member,
                "numbers": numbers.get(number, []),
            }
            yield Piece(f"source-{number}", "sources", number, "source", changed, data)
        for note in state.notes.values():
            if note.changed <= quiet:
                continue
            changed = max(note.changed, self.settled(note))
            data = {"card": note, "member": self.member(note), "whole": True}
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
