"""WorkContext: what everybody who carries out a piece of work is handed: who speaks, and where."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from research.actions.change import Action
from streaming.handler import StreamHandler
from streaming.readers import Readers


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What matters of the run to those who work for it."""

    id: UUID
    user_id: int
    topic: str
    language: str
    options: dict[str, Any]
    earlier: str = ""  # the question that this one follows


@dataclass(frozen=True, slots=True)
class WorkContext:
    """Bound once to one attempt at one piece of work."""

    run: RunFacts
    name: str
    member: str
    input: dict[str, Any]
    handler: StreamHandler
    readers: Readers
    act: Callable[[Action], Awaitable[Any]]
    """Run an action, after everything that was said before it, in this work's name."""
    talk: dict[str, Any] | None = None
    """How far it had come with its model when its run was paused."""

    @property
    def number(self) -> int:
        """Return the number in the work's name: of a task, of a section."""
        return int(self.name.partition(":")[2])
