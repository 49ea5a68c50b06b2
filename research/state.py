"""RunState: what a person or client sees of a run, and nothing else: `fold(log)`.

The page rendered, the page live and the page replayed are one thing because all of them are this.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from .cards import (
    Card,
    CitationCard,
    MemberCard,
    MessageCard,
    MomentCard,
    NoteCard,
    RunCard,
    SectionCard,
    SourceCard,
    TaskCard,
    ToolCard,
)

VERSION = 1


class RunState(Struct):
    """A run, folded up to `seq`. Cards are frozen; the dicts belong to this value alone."""

    version: int = VERSION
    seq: int = 0
    run: RunCard = field(default_factory=lambda: RunCard(born=0, changed=0, ts=0))
    tasks: dict[int, TaskCard] = field(default_factory=dict)
    members: dict[str, MemberCard] = field(default_factory=dict)
    tools: dict[str, ToolCard] = field(default_factory=dict)
    messages: dict[str, MessageCard] = field(default_factory=dict)
    notes: dict[int, NoteCard] = field(default_factory=dict)
    sources: dict[int, SourceCard] = field(default_factory=dict)
    sections: dict[int, SectionCard] = field(default_factory=dict)
    citations: dict[int, CitationCard] = field(default_factory=dict)
    moments: dict[int, MomentCard] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    """Cards that are gone (`tool:<id>` …), and the `seq` at which they went."""
    texts: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """The pieces of each message with their `seq`; shared by later states, which only append."""

    def copy(self) -> RunState:
        """Return a state that can be folded further while this one is read."""
        changes = {name: dict(getattr(self, name)) for name in COPIED}
        return replace(self, **changes)

    # --- reading -------------------------------------------------------------------------------
    def text_of(self, message_id: str, after: int = 0) -> str:
        """Return the text of a message as of this state, or what came to it after a `seq`."""
        pieces = self.texts.get(message_id, ())
        return "".join(text for seq, text in pieces if after < seq <= self.seq)

    def timeline(self, stream_token: str | None = None) -> list[Card]:
        """Return tool calls, messages, notes and moments in the order in which they began."""
        cards: Iterable[Card] = (
            *self.tools.values(),
            *self.messages.values(),
            *self.notes.values(),
            *self.moments.values(),
        )
        mine = (card for card in cards if stream_token in (None, card.stream_token))
        return sorted(mine, key=lambda card: card.born)

    def in_plan_order(self) -> list[TaskCard]:
        """Return the tasks as the plan has them."""
        return sorted(self.tasks.values(), key=lambda task: task.step)

    def report(self) -> list[SectionCard]:
        """Return the sections that are written, in order."""
        return [self.sections[number] for number in sorted(self.sections)]

    def citation_refs(self) -> dict[int, dict[str, Any]]:
        """Return where each number in the report leads."""
        return {ref["number"]: ref for card in self.report() for ref in card.citations}

    def counts(self) -> dict[str, int]:
        """Return the counts that the page shows. Nothing is estimated."""
        ended = ("completed", "skipped", "failed", "cancelled")
        return {
            "tasks": len(self.tasks),
            "tasks_ended": sum(task.status in ended for task in self.tasks.values()),
            "tools": len(self.tools),
            "notes": len(self.notes),
            "sources": len(self.sources),
            "read": sum(source.hash is not None for source in self.sources.values()),
            "sections": len(self.sections),
            "citations": sum(len(card.citations) for card in self.sections.values()),
            "checked": len(self.citations),
        }


COPIED = (
    "tasks",
    "members",
    "tools",
    "messages",
    "notes",
    "sources",
    "sections",
    "citations",
    "moments",
    "dropped",
    "texts",
)
