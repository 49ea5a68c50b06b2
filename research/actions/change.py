"""What an action returns, and the voices in which it speaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from research.models import Run, Task, Work
from streaming.events import Data, Voice
from streaming.members import Role

Said = tuple[Voice, Data]

LEADER = Voice(source_member="leader", role=Role.LEADER)
ROLES = {"leader": Role.LEADER}


@dataclass(slots=True)
class Change:
    """The events of an action, its answer, and whether the run may now go on to other work."""

    said: list[Said] = field(default_factory=list)
    value: Any = None
    moves: bool = False


Action = Callable[[Run], Change]


def role_of(member: str) -> Role:
    """Return the role of a member of the team."""
    return ROLES.get(member, Role.TEAMMATE)


def voice_of(work: Work, task: Task | None = None) -> Voice:
    """Return the voice of the member that carries a piece of work, on the work's lane."""
    voice = Voice(
        source_member=work.member, role=role_of(work.member), work=work.name, attempt=work.attempt
    )
    if task:
        return voice.within(stream_token=task.stream_token, step=task.step, task_id=task.task_id)
    lane = "report" if work.name.partition(":")[0] in ("write", "verify") else None
    return voice.within(stream_token=lane)


def task_of(work: Work) -> Task | None:
    """Return the task that a piece of work is about."""
    kind, _, number = work.name.partition(":")
    if kind != "task":
        return None
    return Task.objects.get(run_id=work.run_id, task_id=int(number))


def task_in(run: Run, voice: Voice) -> Task | None:
    """Return the task on whose lane a voice speaks."""
    if voice.task_id is None:
        return None
    return Task.objects.filter(run=run, task_id=voice.task_id).first()
