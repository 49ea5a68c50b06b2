"""Text waits a moment for company and nothing else does; order, size and errors of what is said."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from uuid import UUID

import pytest

from streaming import log
from streaming import vocabulary as v
from streaming.events import Data, Voice
from streaming.exceptions import EventTooLarge, Fenced, LogError, StreamClosed
from streaming.models import Blob
from streaming.runtime import Runtime
from streaming.sinks import LogSink

from .conftest import StartRuntime
from .logs import ANN, BOB, close, new_stream, stored, until
from .test_writer import a_busy_writer

pytestmark = pytest.mark.both


def delta(text: str, message_id: str = "m") -> v.MessageDelta:
    return v.MessageDelta(message_id=message_id, delta=text)


async def sink_on(runtime: Runtime, **options: Any) -> tuple[LogSink, UUID]:
    stream_id = await runtime.readers.run(new_stream)
    return LogSink(runtime.writer, stream_id, runtime.conf, **options), stream_id


async def said(runtime: Runtime, stream_id: UUID) -> list[tuple[str, str]]:
    events = await runtime.readers.run(stored, stream_id)
    return [
        (event["source_member"], event["data"].get("delta", event["data"].get("message")))
        for event in events
    ]


# --- merging -----------------------------------------------------------------------------------
async def test_pieces_of_text_that_come_together_are_one_event(runtime: Runtime) -> None:
    sink, stream_id = await sink_on(runtime)
    for letter in "kelp":
        await sink.emit(ANN, delta(letter))
    await sink.flush()
    assert await said(runtime, stream_id) == [("ann", "kelp")]


async def test_text_waits_for_company_no_longer_than_it_may(start_runtime: StartRuntime) -> None:
    runtime = await start_runtime(MERGE_MS=60)
    sink, stream_id = await sink_on(runtime)
    await sink.emit(ANN, delta("a"))
    began = time.monotonic()
    while not (found := await said(runtime, stream_id)):
        await asyncio.sleep(0.005)
        if time.monotonic() - began < 0.03:
            await sink.emit(ANN, delta("a"))  # company does not make it wait longer
    took = time.monotonic() - began
    assert 0.05 < took < 0.5
    assert len(found) == 1


async def test_no_text_waits_where_merging_is_off(start_runtime: StartRuntime) -> None:
    runtime = await start_runtime(MERGE_MS=0)
    sink, stream_id = await sink_on(runtime)
    for letter in "abc":
        await sink.emit(ANN, delta(letter))
    await sink.flush()
    assert await said(runtime, stream_id) == [("ann", "a"), ("ann", "b"), ("ann", "c")]


async def test_an_event_pushes_out_the_waiting_text_of_its_own_member_and_of_no_other(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(MERGE_MS=60_000)
    sink, stream_id = await sink_on(runtime)
    await sink.emit(ANN, delta("a", "m1"))
    await sink.emit(BOB, delta("b", "m2"))
    await sink.emit(ANN, delta("A", "m3"))
    await sink.emit(ANN.within(agent_id="x"), v.Status(message="ann acts"))
    await runtime.writer.drained()
    await asyncio.sleep(0)
    await runtime.writer.drained()
    acted = [("ann", "a"), ("ann", "A"), ("ann", "ann acts")]
    assert await said(runtime, stream_id) == acted
    await sink.emit(BOB, v.Status(message="bob acts"))
    await sink.flush()
    assert await said(runtime, stream_id) == [*acted, ("bob", "b"), ("bob", "bob acts")]


async def test_messages_lanes_and_thoughts_are_not_merged_with_each_other(
    runtime: Runtime,
) -> None:
    sink, stream_id = await sink_on(runtime)
    spoken: list[tuple[Voice, Data]] = []
    for text in ("1", "2"):
        spoken += [
            (ANN, delta(text, "m1")),
            (ANN, delta(text, "m2")),
            (ANN, v.ReasoningDelta(message_id="m1", delta=text)),
            (ANN.within(stream_token="task_9"), delta(text, "m1")),
        ]
    for voice, data in spoken:
        await sink.emit(voice, data)
    await sink.flush()
    events = await runtime.readers.run(stored, stream_id)
    assert [
        (event["type"], event["stream_token"], event["data"]["message_id"], event["data"]["delta"])
        for event in events
    ] == [
        ("message.delta", "task_1", "m1", "12"),
        ("message.delta", "task_1", "m2", "12"),
        ("reasoning.delta", "task_1", "m1", "12"),
        ("message.delta", "task_9", "m1", "12"),
    ]


async def test_a_message_ends_after_all_of_its_text(runtime: Runtime) -> None:
    sink, stream_id = await sink_on(runtime)
    for number in range(1000):
        await sink.emit(ANN, delta(f"{number} "))
    await sink.emit(ANN, v.MessageCompleted(message_id="m", text="all"))
    await sink.flush()
    events = await runtime.readers.run(stored, stream_id)
    assert events[-1]["type"] == "message.completed"
    text = "".join(event["data"]["delta"] for event in events[:-1])
    assert text == "".join(f"{number} " for number in range(1000))
    assert len(events) < 20


# --- size and cleanliness ----------------------------------------------------------------------
@pytest.mark.parametrize("letter", ["a", "字", "🦀", "\x01"])
async def test_a_piece_of_a_million_characters_is_said_in_events_that_fit(
    runtime: Runtime, letter: str
) -> None:
    sink, stream_id = await sink_on(runtime)
    await sink.emit(ANN, delta(letter * 1_000_000))
    await sink.flush()
    records = await runtime.readers.run(log.read_after, stream_id, 0)
    assert all(len(record.text.encode()) <= 65_536 for record in records)
    events = await runtime.readers.run(stored, stream_id)
    assert "".join(event["data"]["delta"] for event in events) == letter * 1_000_000


async def test_a_piece_of_a_million_characters_is_said_where_merging_is_off(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(MERGE_MS=0)
    sink, stream_id = await sink_on(runtime)
    await sink.emit(ANN, delta("字" * 1_000_000))
    await sink.flush()
    events = await runtime.readers.run(stored, stream_id)
    assert "".join(event["data"]["delta"] for event in events) == "字" * 1_000_000


async def test_a_long_text_is_kept_once_and_the_event_holds_its_beginning(
    runtime: Runtime,
) -> None:
    sink, stream_id = await sink_on(runtime)
    text = "字" * 40_000 + "\0\ud800"
    for call in ("c1", "c2"):
        finished = v.ToolFinished(tool_call_id=call, tool="fetch", result=text)
        await sink.emit(ANN, finished)
    await sink.flush()
    first, second = await runtime.readers.run(stored, stream_id)
    assert first["data"]["blob"] == second["data"]["blob"]
    assert first["data"]["blob"]["length"] == 40_002
    assert text.startswith(first["data"]["result"])
    whole = await runtime.readers.run(log.blob, stream_id, first["data"]["blob"]["hash"])
    assert whole == "字" * 40_000 + "\ufffd\ufffd"
    assert await runtime.readers.run(Blob.objects.count) == 1


async def test_what_no_database_takes_is_cleaned_before_it_is_queued(runtime: Runtime) -> None:
    sink, stream_id = await sink_on(runtime)
    await sink.emit(ANN, delta("a\0b\ud800c"))
    await sink.emit(ANN, v.ToolStarted(tool_call_id="c", tool="x", args={"\0k": ["\udfff", 1]}))
    await sink.emit(ANN, v.Status(message="\0"))
    await sink.flush()
    text, tool, status = await runtime.readers.run(stored, stream_id)
    assert text["data"]["delta"] == "a\ufffdb\ufffdc"
    assert tool["data"]["args"] == {"\ufffdk": ["\ufffd", 1]}
    assert status["data"]["message"] == "\ufffd"


async def test_an_event_that_is_too_large_is_refused_at_once_and_the_speaker_may_go_on(
    runtime: Runtime,
) -> None:
    sink, stream_id = await sink_on(runtime)
    await sink.emit(ANN, delta("before"))
    with pytest.raises(EventTooLarge):
        await sink.emit(ANN, v.Status(message="x" * 70_000))
    await sink.emit(ANN, v.Status(message="after"))
    await sink.flush()
    assert await said(runtime, stream_id) == [("ann", "before"), ("ann", "after")]


# --- errors ------------------------------------------------------------------------------------
async def test_a_speaker_that_was_taken_over_hears_of_it_and_can_say_no_more(
    runtime: Runtime,
) -> None:
    stream_id = await runtime.readers.run(new_stream)
    claim = await runtime.readers.run(log.claim, stream_id, "task:1")
    told: list[Exception] = []
    sink = LogSink(runtime.writer, stream_id, runtime.conf, claim, told.append)
    await sink.emit(ANN, v.Status(message="mine"))
    await sink.flush()
    await runtime.readers.run(log.claim, stream_id, "task:1")
    await sink.emit(ANN, v.Status(message="late"))
    await until(lambda: told)
    assert isinstance(told[0], Fenced)
    for speak in (sink.emit(ANN, v.Status(message="x")), sink.emit(ANN, delta("x")), sink.flush()):
        with pytest.raises(Fenced):
            await speak
    with pytest.raises(Fenced):
        sink.push()
    assert len(told) == 1
    assert await said(runtime, stream_id) == [("ann", "mine")]


async def test_a_flush_tells_that_the_last_word_was_refused(runtime: Runtime) -> None:
    sink, stream_id = await sink_on(runtime)
    await runtime.readers.run(close, stream_id)
    await sink.emit(ANN, delta("late"))
    with pytest.raises(StreamClosed):
        await sink.flush()


async def test_a_speaker_hears_that_the_writer_has_stopped(runtime: Runtime) -> None:
    told: list[Exception] = []
    sink, _ = await sink_on(runtime, failed=told.append)
    await asyncio.to_thread(runtime.writer.stop)
    await sink.emit(ANN, v.Status(message="x"))
    await until(lambda: told)
    with pytest.raises(LogError):
        await sink.emit(ANN, v.Status(message="y"))


# --- the bound ---------------------------------------------------------------------------------
@pytest.mark.parametrize("merge_ms", [0, 1, 30])
@pytest.mark.parametrize("pause", [None, 0])
@pytest.mark.parametrize("every", [1, 2, 100])
async def test_a_speaker_who_never_waits_is_held_by_a_full_fifo_and_holds_nobody(
    start_runtime: StartRuntime, merge_ms: int, pause: float | None, every: int
) -> None:
    """Neither text nor anything else may pile up in memory, nor keep the loop from others."""
    runtime = await start_runtime(FIFO_EVENTS=50, MERGE_MS=merge_ms)
    sink, stream_id = await sink_on(runtime)
    spoken = 0

    async def speak() -> None:
        nonlocal spoken
        for number in range(300_000):
            acts = number % every == 0
            await sink.emit(ANN, v.Status(message="y") if acts else delta("x" * 50))
            spoken += 1
            if pause is not None:
                await asyncio.sleep(pause)

    longest = 0.0
    with a_busy_writer(runtime.writer):
        speaker = asyncio.create_task(speak())
        began = at = time.monotonic()
        while time.monotonic() - began < 0.15:
            await asyncio.sleep(0)
            longest, at = max(longest, time.monotonic() - at), time.monotonic()
        assert not speaker.done()
        speaker.cancel()
        await asyncio.gather(speaker, return_exceptions=True)
    assert longest < 0.1
    await sink.flush()
    events = await runtime.readers.run(stored, stream_id)
    assert sum(event["type"] == "status" for event in events) >= spoken // every
    assert len(events) < 300
