"""What several pieces of a page need to know of its state."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from research.cards import Card, MemberCard, NoteCard, TaskCard, ToolCard
from research.state import RunState

LEAD, REPORT = "lead", "report"
"""The lanes that are no task's: what the leader does, and what writer and verifier do."""


@dataclass
class Tally:
    """What stands in a lane: how much of each, and when the last of it came."""

    tools: int = 0
    errors: int = 0
    notes: int = 0
    changed: int = 0

    def add(self, card: Card) -> None:
        """Count a card; one that has no number here changes nothing."""
        match card:
            case ToolCard():
                self.tools += 1
                self.errors += card.status == "error"
                self.changed = max(self.changed, card.changed)
            case NoteCard():
                self.notes += 1
                self.changed = max(self.changed, card.born)


@dataclass(frozen=True)
class Facts:
    """A state, and what is asked of it more than once."""

    state: RunState

    @cached_property
    def gone_last(self) -> dict[str, int]:
        """When a card of each kind was last dropped."""
        found: dict[str, int] = {}
        for key, seq in self.state.dropped.items():
            kind = key.partition(":")[0]
            found[kind] = max(found.get(kind, 0), seq)
        return found

    @cached_property
    def tasks_of_lanes(self) -> dict[str | None, TaskCard]:
        """The task of each lane that is one's."""
        return {task.stream_token: task for task in self.state.tasks.values()}

    @cached_property
    def keys(self) -> dict[str, str]:
        """What stands for each member in ids: names may hold anything."""
        digest = hashlib.sha256
        return {name: digest(name.encode()).hexdigest()[:12] for name in self.state.members}

    @cached_property
    def joined(self) -> int:
        """When a member or task came that others' pieces may name."""
        cards = (*self.state.members.values(), *self.state.tasks.values())
        return max((card.born for card in cards), default=0)

    @cached_property
    def ended(self) -> int:
        """When the run ended; 0 while it has not."""
        return self.state.run.changed if self.state.run.ended else 0

    @cached_property
    def tallies(self) -> dict[str, Tally]:
        """What stands in each container of the timeline, grouped by task and by member."""
        found: defaultdict[str, Tally] = defaultdict(Tally)
        for cards in (self.state.tools, self.state.notes):
            for card in cards.values():
                found[f"items_{self.token(card)}"].add(card)
                found[self.by(card)].add(card)
        gone = max(self.gone_last.get("tool", 0), self.gone_last.get("note", 0))
        for tally in found.values():
            tally.changed = max(tally.changed, gone)
        found.default_factory = lambda: Tally(changed=gone)
        return found

    def last(self, *kinds: str) -> int:
        """Return when cards of these kinds, of which the page shows the number, changed last."""
        last = max(self.gone_last.get(kind, 0) for kind in kinds)
        for kind in kinds:
            cards: dict[Any, Card] = getattr(self.state, kind + "s")
            last = max(last, max((card.changed for card in cards.values()), default=0))
        return last

    def member(self, card: Card) -> MemberCard | None:
        """Return who made a card."""
        return self.state.members.get(card.member or "")

    def carrier(self, task: TaskCard) -> MemberCard | None:
        """Return who carries a task; nobody does before it has begun."""
        return None if task.status == "pending" else self.member(task)

    def is_active(self, member: MemberCard) -> bool:
        """Tell whether a member is doing something."""
        return bool(member.activity) and not self.ended

    def token(self, card: Card) -> str:
        """Return the lane that a card stands in."""
        if card.stream_token == REPORT:
            return REPORT
        return card.stream_token or LEAD if card.stream_token in self.tasks_of_lanes else LEAD

    def by(self, card: Card) -> str:
        """Return the container that a card stands in where lanes are members'."""
        key = self.keys.get(card.member or "")
        return f"items_by_{key}" if key else f"items_{LEAD}"

    def settled(self, card: Card) -> int:
        """Return since when what a lane's card shows besides itself is as it is."""
        member, task = self.member(card), self.tasks_of_lanes.get(card.stream_token)
        return max(card.born, member.born if member else 0, task.born if task else 0)
