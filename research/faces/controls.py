"""The controls of a run: what may be asked of it now, and of whom."""

from __future__ import annotations

from collections.abc import Iterator

from research.cards import RunCard, TaskCard

from .facts import Facts
from .piece import Piece

HEARING = ("leader", "teammate")
BY_RULE = "verifier"  # asks no model, so that nobody can steer it


def controls(facts: Facts) -> Iterator[Piece]:
    """Yield the buttons, and whom a person may speak to."""
    run = facts.state.run
    goes_on = run.status in ("queued", "running")
    waits = run.status in ("pausing", "paused")
    early = run.phase in ("plan", "research")
    data = {
        "run": run,
        "may_pause": goes_on,
        "may_resume": waits,
        "may_finish": early and (goes_on or waits),
        "may_cancel": goes_on or waits or run.status == "finishing",
    }
    yield Piece("control-buttons", "controls", 0, "controls", run.changed, data)
    for member in facts.state.members.values():
        if member.role in HEARING and member.name != BY_RULE:
            key, born = facts.keys[member.name], member.born
            yield Piece(
                f"to-{key}", "steer_to", member.index, "addressee", born, {"member": member}
            )


def may_retry(run: RunCard, task: TaskCard) -> bool:
    """Tell whether a task may be tried again: in place, or after the end in a run of its own."""
    if run.ended:
        return task.status != "completed"
    return task.status == "failed" and run.phase == "research"
