"""Each start has exactly one end, in the opener's voice, wherever a log is cut."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming import vocabulary as v
from streaming.events import DATA, TERMINAL, Data, Ended, Event, Voice, decode, draft
from streaming.open_set import CLOSERS, DELTAS, ENDS, STARTS, closings, open_set

Said = tuple[Voice, Data]
MEMBERS = ("ann", "鲍勃", "ann-2")


def events_of(said: Sequence[Said]) -> list[Event]:
    return [decode(draft(voice, data).encode(seq)) for seq, (voice, data) in enumerate(said, 1)]


def identity(event: Event) -> tuple[str, str]:
    """Return what an event opens, goes on with, or ends; written anew, not taken from the code."""
    kind = event.type.partition(".")[0]
    match kind:
        case "task":
            return kind, str(event.task_id)
        case "work":
            return kind, f"{event.work} {event.attempt}"
        case "agent":
            return kind, str(event.agent_id)
        case "llm":
            return kind, event.data["llm_id"]
        case "tool":
            return kind, event.data["tool_call_id"]
    return kind, event.data["message_id"]


def start_and_end(kind: str, number: int, voice: Voice) -> tuple[Said, list[Said], Said]:
    """Return the start, the middle and the end of something, in one voice."""
    id = f"{kind}-{number}"
    match kind:
        case "task":
            voice = voice.within(task_id=number)
            return (
                (voice, v.TaskStarted(title="t", query="q")),
                [],
                (voice, v.TaskCompleted(summary="s")),
            )
        case "work":
            voice = voice.within(work=f"task:{number}", attempt=1)
            return (
                (voice, v.WorkStarted(member="ann")),
                [],
                (voice, v.WorkFinished(status="completed")),
            )
        case "agent":
            voice = voice.within(agent_id=id)
            return (
                (voice, v.AgentStarted(agent_name="a")),
                [],
                (voice, v.AgentFinished(agent_name="a")),
            )
        case "llm":
            return (
                (voice, v.LLMStarted(llm_id=id, agent_name="a")),
                [],
                (voice, v.LLMFinished(llm_id=id, agent_name="a")),
            )
        case "tool":
            return (
                (voice, v.ToolStarted(tool_call_id=id, tool="search")),
                [(voice, v.ToolArgs(tool_call_id=id, delta={"q": "x"}))],
                (voice, v.ToolFinished(tool_call_id=id, tool="search")),
            )
        case "message":
            return (
                (voice, v.MessageStarted(message_id=id)),
                [(voice, v.MessageDelta(message_id=id, delta=f"{id}.{i} ")) for i in range(3)],
                (voice, v.MessageCompleted(message_id=id, text="all")),
            )
    return (
        (voice, v.ReasoningStarted(message_id=id)),
        [(voice, v.ReasoningDelta(message_id=id, delta=f"{id}.{i} ")) for i in range(3)],
        (voice, v.ReasoningCompleted(message_id=id, text="all")),
    )


@st.composite
def logs(draw: st.DrawFn) -> list[Said]:
    """Draw a log: things that start, go on and end, nested and interleaved at random."""
    kinds = draw(st.lists(st.sampled_from(sorted(CLOSERS)), max_size=12))
    lives: list[Iterator[Said]] = []
    for number, kind in enumerate(kinds):
        voice = Voice(
            source_member=draw(st.sampled_from(MEMBERS)),
            stream_token=draw(st.sampled_from([None, "task_1", "task_2"])),
        )
        start, middle, end = start_and_end(kind, number, voice)
        lives.append(iter([start, *middle, end]))
    said: list[Said] = []
    while lives:
        life = draw(st.sampled_from(lives))
        if (step := next(life, None)) is None:
            lives.remove(life)
        else:
            said.append(step)
            if draw(st.booleans()):
                said.append((Voice(), v.Status(message="meanwhile")))
    return said


@given(logs(), st.data(), st.sampled_from(["interrupted", "cancelled", "failed"]))
def test_wherever_a_log_is_cut_its_closings_end_everything_once(
    said: list[Said], data: st.DataObject, status: Ended
) -> None:
    cut = events_of(said[: data.draw(st.integers(0, len(said)))])
    closed = events_of(closings(cut, status))
    starts = {identity(event): event for event in cut if event.type in STARTS}
    ends = Counter(identity(event) for event in [*cut, *closed] if event.type in ENDS)
    assert ends == Counter(starts.keys())
    for end in closed:
        assert end.voice == starts[identity(end)].voice
    # last opened, first closed
    opened = [starts[identity(end)].seq for end in closed]
    assert opened == sorted(opened, reverse=True)
    assert not open_set([*cut, *closed])
    for end in closed:
        if end.type in ("message.completed", "reasoning.completed"):
            told = [
                event.data["delta"]
                for event in cut
                if event.type in DELTAS and identity(event) == identity(end)
            ]
            assert end.data["text"] == "".join(told)
            assert end.data["status"] == status


@given(logs(), st.data())
def test_a_task_outlives_the_attempts_of_its_work(said: list[Said], data: st.DataObject) -> None:
    cut = events_of(said[: data.draw(st.integers(0, len(said)))])
    without = events_of(closings(cut, "interrupted", tasks=False))
    assert not any(event.type.startswith("task.") for event in without)
    rest = open_set([*cut, *without])
    assert {what for what, _ in rest} <= {"task"}


def test_a_message_that_begins_again_begins_with_no_text() -> None:
    voice = Voice(source_member="ann")
    once: list[Said] = [
        (voice, v.MessageStarted(message_id="m")),
        (voice, v.MessageDelta(message_id="m", delta="first")),
        (voice, v.MessageCompleted(message_id="m", text="first")),
        (voice, v.MessageStarted(message_id="m")),
        (voice, v.MessageDelta(message_id="m", delta="second")),
    ]
    [(_, data)] = closings(events_of(once), "interrupted")
    assert isinstance(data, v.MessageCompleted)
    assert data.text == "second"


def test_the_closings_of_a_cancelled_run_say_so() -> None:
    voice = Voice(source_member="ann", task_id=1)
    said: list[Said] = [
        (voice, v.TaskStarted(title="t", query="q")),
        (voice, v.ToolStarted(tool_call_id="c", tool="search")),
    ]
    tool, task = closings(events_of(said), "cancelled")
    assert isinstance(tool[1], v.ToolFinished)
    assert tool[1].status == "cancelled"
    assert isinstance(task[1], v.TaskCancelled)


def test_a_joined_text_that_is_long_can_still_be_said() -> None:
    voice = Voice(source_member="ann")
    said: list[Said] = [(voice, v.MessageStarted(message_id="m"))]
    said += [(voice, v.MessageDelta(message_id="m", delta="字" * 8000)) for _ in range(10)]
    [(_, data)] = closings(events_of(said), "interrupted")
    closing = draft(voice, data)
    assert closing.blob
    assert closing.blob.text == "字" * 80_000


def test_everything_that_starts_can_end_and_be_closed() -> None:
    pairs: Any = [(STARTS, "started"), (ENDS, "")]
    for table, ending in pairs:
        assert all(type in DATA and type.endswith(ending) for type in table)
    assert {what for what, _ in STARTS.values()} == set(CLOSERS)
    assert {what for what, _ in ENDS.values()} == set(CLOSERS)
    begun = {type for type in DATA if type.endswith(".started") and not type.startswith("run.")}
    assert begun == set(STARTS)


@pytest.mark.parametrize("type", sorted(TERMINAL))
def test_a_terminal_event_closes_nothing_by_itself(type: str) -> None:
    data = DATA[type].model_validate({"code": "c", "message": "m"} if "failed" in type else {})
    voice = Voice(source_member="ann")
    cut = events_of([(voice, v.MessageStarted(message_id="m")), (Voice(), data)])
    assert len(open_set(cut)) == 1
    assert json.loads(draft(Voice(), data).encode(1))["type"] == type
