"""What is still open in a log, and the events that close it.

Each start has exactly one end. Where the one who started is gone, whoever takes over writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from . import vocabulary as v
from .events import Data, Ended, Event, Voice

STARTS: dict[str, tuple[str, str]] = {  # a type of event: (what it opens, key in its data)
    "task.started": ("task", ""),
    "work.started": ("work", ""),
    "agent.started": ("agent", ""),
    "llm.started": ("llm", "llm_id"),
    "message.started": ("message", "message_id"),
    "reasoning.started": ("reasoning", "message_id"),
    "tool.started": ("tool", "tool_call_id"),
}
ENDS: dict[str, tuple[str, str]] = {
    "task.completed": ("task", ""),
    "task.failed": ("task", ""),
    "task.skipped": ("task", ""),
    "task.cancelled": ("task", ""),
    "work.finished": ("work", ""),
    "agent.finished": ("agent", ""),
    "llm.finished": ("llm", "llm_id"),
    "message.completed": ("message", "message_id"),
    "reasoning.completed": ("reasoning", "message_id"),
    "tool.finished": ("tool", "tool_call_id"),
}
DELTAS = {"message.delta": "message", "reasoning.delta": "reasoning"}

Key = tuple[str, str]


def _key(event: Event, what: str, field: str) -> Key:
    """Return what tells this opening from every other of its run."""
    if field:
        return what, str(event.data[field])
    own = {"task": event.task_id, "work": f"{event.work}#{event.attempt}", "agent": event.agent_id}
    return what, str(own[what])


def open_set(events: Iterable[Event]) -> dict[Key, tuple[Event, str]]:
    """Return what the events leave open, in the order it was opened, with its text so far."""
    opened: dict[Key, Event] = {}
    texts: dict[Key, list[str]] = {}
    for event in events:
        if start := STARTS.get(event.type):
            key = _key(event, *start)
            opened[key] = event
            texts.pop(key, None)  # of an earlier one by the same name
        elif end := ENDS.get(event.type):
            opened.pop(_key(event, *end), None)
        elif what := DELTAS.get(event.type):
            texts.setdefault((what, event.data["message_id"]), []).append(event.data["delta"])
    return {key: (event, "".join(texts.get(key, ()))) for key, event in opened.items()}


def closings(
    events: Iterable[Event], status: Ended, *, tasks: bool = True
) -> list[tuple[Voice, Data]]:
    """Return the events that close what is open, last opened first, in its own voice.

    Without `tasks` the tasks stay open: a task outlives the attempts of its work.
    """
    left = open_set(events)
    return [
        (event.voice, CLOSERS[what](event, text, status))
        for (what, _), (event, text) in reversed(left.items())
        if tasks or what != "task"
    ]


def _task(event: Event, text: str, status: Ended) -> Data:
    if status == "cancelled":
        return v.TaskCancelled()
    return v.TaskFailed(code="interrupted", message="It was not finished.")


def _tool(event: Event, text: str, status: Ended) -> Data:
    return v.ToolFinished(
        tool_call_id=event.data["tool_call_id"],
        tool=event.data["tool"],
        status="cancelled" if status == "cancelled" else "interrupted",
    )


CLOSERS: dict[str, Callable[[Event, str, Ended], Data]] = {
    "task": _task,
    "work": lambda event, text, status: v.WorkFinished(status=status),
    "agent": lambda event, text, status: v.AgentFinished(
        agent_name=event.data["agent_name"], status=status
    ),
    "llm": lambda event, text, status: v.LLMFinished(
        llm_id=event.data["llm_id"], agent_name=event.data["agent_name"], status=status
    ),
    "message": lambda event, text, status: v.MessageCompleted(
        message_id=event.data["message_id"], text=text, status=status
    ),
    "reasoning": lambda event, text, status: v.ReasoningCompleted(
        message_id=event.data["message_id"], text=text, status=status
    ),
    "tool": _tool,
}
