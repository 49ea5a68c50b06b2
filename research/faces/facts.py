"""What several pieces of a page need to know of its state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from research.cards import Card, MemberCard, TaskCard
from research.state import RunState

LEAD, REPORT = "lead", "report"
"""The lanes that are no task's: what the leader does, and what writer and verifier do."""


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
    def joined(self) -> int:
        """When a member or task came that others' pieces may name."""
        cards = (*self.state.members.values(), *self.state.tasks.values())
        return max((card.born for card in cards), default=0)

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

    def token(self, card: Card) -> str:
        """Return the lane that a card stands in."""
        if card.stream_token == REPORT:
            return REPORT
        return card.stream_token or LEAD if card.stream_token in self.tasks_of_lanes else LEAD

    def settled(self, card: Card) -> int:
        """Return since when what a lane's card shows besides itself is as it is."""
        member, task = self.member(card), self.tasks_of_lanes.get(card.stream_token)
        return max(card.born, member.born if member else 0, task.born if task else 0)
