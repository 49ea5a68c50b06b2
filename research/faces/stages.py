"""Stages: how far a run is, told by what is there. Nothing is estimated."""

from __future__ import annotations

from dataclasses import dataclass

from research.state import RunState

ORDER = ("plan", "research", "write", "verify")


@dataclass(frozen=True, slots=True)
class Stage:
    """One stop of the rail: `status` is waiting, active, done or cut."""

    name: str
    status: str
    counts: dict[str, int]


def stages(state: RunState) -> list[Stage]:
    """Return the stages of a run with what each has brought so far."""
    counts = state.counts()
    told = {
        "plan": {"tasks": counts["tasks"]},
        "research": {
            key: counts[key] for key in ("tasks_ended", "tasks", "sources", "read", "notes")
        },
        "write": {"sections": counts["sections"]},
        "verify": {key: counts[key] for key in ("checked", "citations")},
    }
    brought = {
        "plan": counts["tasks"] > 0,
        "research": 0 < counts["tasks"] == counts["tasks_ended"],
        "write": counts["sections"] > 0,
        "verify": 0 < counts["citations"] == counts["checked"],
    }
    return [Stage(name, _status(state, name, brought[name]), told[name]) for name in ORDER]


def _status(state: RunState, name: str, brought: bool) -> str:
    run = state.run
    if run.status == "completed":
        return "done"
    if run.status in ("failed", "cancelled"):
        return "done" if brought else "cut"
    if run.status == "queued":
        return "waiting"
    here = ORDER.index(run.phase) if run.phase in ORDER else len(ORDER)
    place = ORDER.index(name)
    return "done" if place < here else "active" if place == here else "waiting"
