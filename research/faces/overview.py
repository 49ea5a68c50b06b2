"""The head of a run's page, its stages, its plan and its team."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .controls import controls, may_retry
from .facts import Facts
from .piece import Piece
from .stages import stages


def overview(facts: Facts) -> Iterator[Piece]:
    """Yield what tells of the run as a whole."""
    state = facts.state
    yield Piece("run-head", "head", 0, "head", state.run.changed, {"run": state.run})
    counted = facts.last("task", "source", "note", "section", "citation")
    last = max(state.run.changed, counted)
    yield Piece("stages", "rail", 0, "stages", last, {"stages": stages(state)})
    for name in ("section", "source", "note"):
        count = len(getattr(state, name + "s"))
        last = facts.last(name)
        yield Piece(f"count-{name}", f"badge_{name}", 0, "count", last, {"count": count})
    yield from controls(facts)
    for task in state.in_plan_order():
        member = facts.carrier(task)
        changed = max(task.changed, member.born if member else 0, state.run.changed)
        retry = may_retry(state.run, task)
        data: dict[str, Any] = {"task": task, "member": member, "retry": retry}
        yield Piece(f"plan-{task.task_id}", "plan", task.step, "task", changed, data)
    yield from _team(facts)


def _team(facts: Facts) -> Iterator[Piece]:
    state = facts.state
    for member in state.members.values():
        key = facts.keys[member.name]
        task = state.tasks.get(member.task_id or 0)
        changed = max(member.changed, task.changed if task else 0, facts.ended)
        active = facts.is_active(member)
        data = {"member": member, "task": task, "active": active, "key": key}
        yield Piece(f"member-{key}", "members", member.index, "member", changed, data)
    members = list(state.members.values())
    last = max((member.changed for member in members), default=0)
    most = max((member.input_tokens + member.output_tokens for member in members), default=0)
    yield Piece("usage-table", "usage", 0, "usage", last, {"members": members, "most": most})
