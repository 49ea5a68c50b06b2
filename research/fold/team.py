"""Steps of the fold: the run, its team, its plan."""

from __future__ import annotations

from typing import Any

from research.cards import MemberCard, RunCard, TaskCard
from research.state import RunState
from streaming.events import Event

from .steps import base, change, change_run, on, tell

STATUSES = {"resumed": "running"}


@on("run.started")
def _run_started(state: RunState, event: Event) -> None:
    data = event.data
    state.run = RunCard(
        **base(event),
        status="running",
        topic=data["topic"],
        language=data.get("language", "en"),
        options=data.get("options", {}),
        parent=data.get("parent"),
    )


@on("run.paused")
def _run_paused(state: RunState, event: Event) -> None:
    status = "pausing" if _somebody_works(state) else "paused"
    change_run(state, event, status=status, paused=event.ts)
    tell(state, event)


@on("run.resumed", "run.finishing", "run.cancelling")
def _run_goes_on(state: RunState, event: Event) -> None:
    told = event.type.removeprefix("run.")
    change_run(state, event, status=STATUSES.get(told, told), **_waited(state, event))
    tell(state, event)


@on("run.completed", "run.failed", "run.cancelled")
def _run_ended(state: RunState, event: Event) -> None:
    data = event.data
    change_run(
        state,
        event,
        status=event.type.removeprefix("run."),
        phase="done",
        code=data.get("code"),
        message=data.get("message"),
        partial=data.get("partial", False),
        gaps=data.get("gaps", []),
        ended=event.ts,
        **_waited(state, event),
    )
    for name in state.members:
        rest = {"status": "stopped", "activity": "", "detail": "", "since": event.ts}
        change(state.members, name, event, **rest)


@on("member.joined")
def _member_joined(state: RunState, event: Event) -> None:
    data = event.data
    if data["name"] in state.members:
        return
    state.members[data["name"]] = MemberCard(
        **base(event) | {"member": data["name"], "role": data["role"]},
        name=data["name"],
        display_name=data.get("display_name"),
        index=len(state.members),
        since=event.ts,
    )


@on("member.status")
def _member_status(state: RunState, event: Event) -> None:
    status = event.data["status"]
    changes: dict[str, Any] = {"status": status, "since": event.ts}
    if status != "busy":
        changes |= {"activity": "", "detail": ""}
    change(state.members, event.data["name"], event, **changes)
    if state.run.status == "pausing" and not _somebody_works(state):
        change_run(state, event, status="paused")


@on("plan.proposed", "plan.updated")
def _plan(state: RunState, event: Event) -> None:
    for task in event.data["tasks"]:
        known = state.tasks.get(task["task_id"])
        fields = {key: task.get(key, "") for key in ("step", "title", "intent", "query", "status")}
        if known:
            change(state.tasks, known.task_id, event, **fields)
        else:
            lane = {"task_id": task["task_id"], "stream_token": f"task_{task['task_id']}"}
            state.tasks[task["task_id"]] = TaskCard(**(base(event) | lane), **fields)
    if event.type == "plan.proposed":
        change_run(state, event, phase="research")


@on("work.started")
def _work_started(state: RunState, event: Event) -> None:
    phase = (event.work or "").partition(":")[0]
    phases = {"plan": "plan", "task": "research", "write": "write", "verify": "verify"}
    if phase in phases and state.run.phase != phases[phase]:
        change_run(state, event, phase=phases[phase])
    if state.run.status == "finishing":
        change_run(state, event, status="running")


@on("task.started")
def _task_started(state: RunState, event: Event) -> None:
    change(state.tasks, event.task_id, event, status="in_progress", member=event.source_member)


@on("task.completed", "task.failed", "task.skipped", "task.cancelled")
def _task_ended(state: RunState, event: Event) -> None:
    data = event.data
    change(
        state.tasks,
        event.task_id,
        event,
        status=event.type.removeprefix("task."),
        summary=data.get("summary", ""),
        message=data.get("message") or data.get("reason") or "",
        code=data.get("code"),
        source_ids=data.get("source_ids", []),
    )


def _waited(state: RunState, event: Event) -> dict[str, Any]:
    """Return what changes where a run is not paused any more: how long it waited."""
    run = state.run
    return {"paused": None, "waited": run.waited + event.ts - run.paused} if run.paused else {}


def _somebody_works(state: RunState) -> bool:
    return any(member.status == "busy" for member in state.members.values())
