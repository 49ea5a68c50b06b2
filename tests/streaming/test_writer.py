"""The one FIFO of a process: its order, its bound, and what it does when a write does not pass."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from streaming import log
from streaming import vocabulary as v
from streaming.commits import Append, Call
from streaming.conf import Conf
from streaming.events import Draft, Voice, draft
from streaming.exceptions import CommitUnknown, EventTooLarge, Fenced, LogError, NotFound
from streaming.runtime import Runtime
from streaming.writer import EventWriter

from .conftest import StartRuntime
from .logs import assert_contiguous, new_stream, stored, until, word, words

pytestmark = pytest.mark.both


class Refused(list[Exception]):
    """What the writer said it could not write."""

    def __call__(self, error: Exception) -> None:
        self.append(error)

    def __bool__(self) -> bool:
        return True  # also while there is nothing


def saying(
    stream_id: UUID,
    *texts: str,
    claim: log.Claim | None = None,
    failed: Callable[[Exception], None] | None = None,
) -> Append:
    return Append(stream_id, [word(text) for text in texts], claim, failed or Refused())


async def put(writer: EventWriter, item: Append) -> None:
    """Speak as a speaker does: queue, and wait while the FIFO is full."""
    writer.put(item)
    await writer.room()


@contextmanager
def commits_that(act: Callable[[Callable[[], Any]], None], times: int = 1) -> Iterator[list[str]]:
    """Let the next commits of the writer's thread go wrong."""
    real = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]
    went_wrong: list[str] = []

    def commit(self: Any) -> None:
        if threading.current_thread().name == "event-writer" and len(went_wrong) < times:
            went_wrong.append("commit")
            act(partial(real, self))
        else:
            real(self)

    with mock.patch.object(BaseDatabaseWrapper, "_commit", commit):
        yield went_wrong


def arrive_unheard(commit: Callable[[], Any]) -> None:
    """Commit, and lose the answer."""
    commit()
    raise OperationalError("server closed the connection unexpectedly")


def be_lost(commit: Callable[[], Any]) -> None:
    """Do not commit."""
    raise OperationalError("the database is starting up")


@contextmanager
def a_busy_writer(writer: EventWriter) -> Iterator[None]:
    """Keep the writer's thread busy, so that what is said meanwhile queues up."""
    busy, go = threading.Event(), threading.Event()

    def wait() -> None:
        busy.set()
        go.wait(10)

    writer.put(Call(wait))
    assert busy.wait(10)
    try:
        yield
    finally:
        go.set()


# --- order -------------------------------------------------------------------------------------
async def test_events_and_actions_are_carried_out_in_the_order_in_which_they_came(
    runtime: Runtime,
) -> None:
    stream_id = await runtime.readers.run(new_stream)
    writer, calls = runtime.writer, []
    with a_busy_writer(writer):
        for number in range(50):
            await put(writer, saying(stream_id, f"e{number}"))
            if number % 7 == 0:
                text = f"a{number}"
                calls.append(
                    asyncio.create_task(writer.call(partial(log.append, stream_id, [word(text)])))
                )
                await asyncio.sleep(0)
    await asyncio.gather(*calls)
    await writer.drained()
    expected = []
    for number in range(50):
        expected += [f"e{number}", f"a{number}"] if number % 7 == 0 else [f"e{number}"]
    assert words(await runtime.readers.run(stored, stream_id)) == expected


async def test_events_that_wait_together_share_a_commit_and_an_action_has_its_own(
    runtime: Runtime,
) -> None:
    stream_id = await runtime.readers.run(new_stream)
    batches: list[log.Batch] = []

    def hear(batch: log.Batch, **kwargs: object) -> None:
        batches.append(batch)

    log.committed.connect(hear)
    try:
        with a_busy_writer(runtime.writer):
            for number in range(10):
                runtime.writer.put(saying(stream_id, str(number)))
            called = asyncio.create_task(
                runtime.writer.call(partial(log.append, stream_id, [word("action")]))
            )
            await asyncio.sleep(0)
            for number in range(300):
                runtime.writer.put(saying(stream_id, str(number)))
        await called
        await runtime.writer.drained()
    finally:
        log.committed.disconnect(hear)
    assert [len(batch.records) for batch in batches] == [10, 1, 256, 44]


async def test_a_call_returns_what_its_action_returns_or_raises(runtime: Runtime) -> None:
    assert await runtime.writer.call(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await runtime.writer.call(lambda: 1 / 0)
    assert await runtime.writer.call(runtime.writer.is_own_thread)
    assert not runtime.writer.is_own_thread()


async def test_a_call_that_nobody_waits_for_any_more_is_not_begun(runtime: Runtime) -> None:
    begun: list[int] = []
    with a_busy_writer(runtime.writer):
        call = asyncio.create_task(runtime.writer.call(partial(begun.append, 1)))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    await runtime.writer.drained()
    assert not begun


async def test_many_speakers_on_many_streams_each_keep_their_order(runtime: Runtime) -> None:
    streams = [await runtime.readers.run(new_stream) for _ in range(3)]

    async def speak(name: str, stream_id: UUID) -> None:
        for number in range(40):
            await put(runtime.writer, saying(stream_id, f"{name}.{number}"))
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for i in range(9):
            group.create_task(speak(f"s{i}", streams[i % 3]))
    await runtime.writer.drained()
    for index, stream_id in enumerate(streams):
        await runtime.readers.run(assert_contiguous, stream_id)
        found = words(await runtime.readers.run(stored, stream_id))
        assert len(found) == 120
        for i in range(index, 9, 3):
            mine = [text for text in found if text.startswith(f"s{i}.")]
            assert mine == [f"s{i}.{number}" for number in range(40)]


# --- the bound ---------------------------------------------------------------------------------
async def test_a_full_fifo_makes_the_speaker_wait_and_wakes_it_and_the_loop_runs_on(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(FIFO_EVENTS=20, COMMIT_EVENTS=5)
    stream_id = await runtime.readers.run(new_stream)
    said: list[int] = []

    async def speak() -> None:
        for number in range(200):
            await put(runtime.writer, saying(stream_id, str(number)))
            said.append(number)

    turns = 0
    with a_busy_writer(runtime.writer):
        speaker = asyncio.create_task(speak())
        deadline = time.monotonic() + 0.2
        while time.monotonic() < deadline:
            await asyncio.sleep(0)
            turns += 1
        assert 15 <= len(said) <= 21  # it waits, and has not been let far beyond the bound
        assert not speaker.done()
    assert turns > 100  # and the loop's thread does not wait with it
    async with asyncio.timeout(10):
        await speaker
        await runtime.writer.drained()
    assert words(await runtime.readers.run(stored, stream_id)) == [str(i) for i in range(200)]


async def test_many_speakers_that_wait_for_room_are_all_woken(start_runtime: StartRuntime) -> None:
    runtime = await start_runtime(FIFO_EVENTS=4, COMMIT_EVENTS=2)
    stream_id = await runtime.readers.run(new_stream)

    async def speak(name: str) -> None:
        for number in range(10):
            await put(runtime.writer, saying(stream_id, f"{name}.{number}"))

    with a_busy_writer(runtime.writer):
        speakers = [asyncio.create_task(speak(f"s{i}")) for i in range(20)]
        await asyncio.sleep(0.05)
        given_up, *rest = speakers
        given_up.cancel()  # one of them leaves the queue; nobody behind it may starve
    async with asyncio.timeout(10):
        await asyncio.gather(*rest)
        await runtime.writer.drained()
    found = words(await runtime.readers.run(stored, stream_id))
    for i in range(1, 20):
        mine = [text for text in found if text.startswith(f"s{i}.")]
        assert mine == [f"s{i}.{number}" for number in range(10)]


async def test_a_speaker_that_waits_for_room_keeps_its_place(start_runtime: StartRuntime) -> None:
    runtime = await start_runtime(FIFO_EVENTS=2)
    stream_id = await runtime.readers.run(new_stream)
    with a_busy_writer(runtime.writer):
        runtime.writer.put(saying(stream_id, "1", "2"))
        waits = asyncio.create_task(put(runtime.writer, saying(stream_id, "3")))
        await asyncio.sleep(0)
        runtime.writer.put(saying(stream_id, "4"))
        await asyncio.sleep(0)
    await waits
    await runtime.writer.drained()
    assert words(await runtime.readers.run(stored, stream_id)) == ["1", "2", "3", "4"]


# --- blocking callers --------------------------------------------------------------------------
async def test_a_thread_may_wait_for_an_action_but_not_inside_a_transaction(
    runtime: Runtime,
) -> None:
    writer = runtime.writer
    assert await runtime.readers.run(writer.call_blocking, lambda: 5) == 5

    def inside_a_transaction() -> None:
        with transaction.atomic():
            writer.call_blocking(lambda: 5)

    with pytest.raises(RuntimeError, match="never waited for"):
        await runtime.readers.run(inside_a_transaction)


async def test_the_writers_own_thread_may_not_wait_for_itself(runtime: Runtime) -> None:
    with pytest.raises(RuntimeError, match="never waited for"):
        await runtime.writer.call(lambda: runtime.writer.call_blocking(lambda: 5))
    assert await runtime.writer.call(lambda: 6) == 6


async def test_the_loops_thread_may_not_block_on_the_fifo(runtime: Runtime) -> None:
    with pytest.raises(RuntimeError, match="never waited for"):
        runtime.writer.call_blocking(lambda: 5)


# --- its end -----------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)
def test_a_stop_writes_what_is_queued_and_refuses_what_comes_after() -> None:
    stream_id = new_stream()
    writer = EventWriter(Conf(retry_s=1))
    writer.start()
    with a_busy_writer(writer):
        for number in range(500):
            writer.put(saying(stream_id, str(number)))
    writer.stop()
    assert words(stored(stream_id)) == [str(number) for number in range(500)]
    with pytest.raises(LogError):
        writer.put(saying(stream_id, "late"))
    assert not any(thread.name == "event-writer" for thread in threading.enumerate())


async def test_a_stop_lets_go_of_those_who_wait_for_room(start_runtime: StartRuntime) -> None:
    runtime = await start_runtime(FIFO_EVENTS=2)
    stream_id = await runtime.readers.run(new_stream)
    with a_busy_writer(runtime.writer):
        runtime.writer.put(saying(stream_id, "1", "2"))
        waits = asyncio.create_task(put(runtime.writer, saying(stream_id, "3")))
        await asyncio.sleep(0)
    await asyncio.to_thread(runtime.writer.stop)
    async with asyncio.timeout(5):
        await asyncio.gather(waits, return_exceptions=True)
    found = words(await runtime.readers.run(stored, stream_id))
    assert found in (["1", "2"], ["1", "2", "3"])


# --- one bad item ------------------------------------------------------------------------------
def bad_drafts() -> dict[str, tuple[Draft, type[Exception]]]:
    return {
        "too large": (
            draft(Voice(), v.Status(message="x" * 70_000), limit=200_000),
            EventTooLarge,
        ),
        "a number that no column holds": (word("x", Voice(attempt=2**70)), Exception),
        "a name that is no text": (
            Draft("status", Voice(source_member="\ud800"), "{}"),
            ValueError,
        ),
    }


@pytest.mark.parametrize("kind", [*bad_drafts(), "no such stream"])
async def test_a_bad_item_fails_alone(runtime: Runtime, kind: str) -> None:
    stream_id = await runtime.readers.run(new_stream)
    other = await runtime.readers.run(new_stream)
    where = stream_id if kind in bad_drafts() else uuid4()
    bad, error = bad_drafts().get(kind, (word("x"), NotFound))
    passed, refused = Refused(), Refused()
    with a_busy_writer(runtime.writer):
        runtime.writer.put(saying(stream_id, "a", failed=passed))
        runtime.writer.put(saying(other, "b", failed=passed))
        runtime.writer.put(Append(where, [bad], None, refused))
        runtime.writer.put(saying(stream_id, "c", failed=passed))
    await runtime.writer.drained()
    assert len(refused) == 1
    assert isinstance(refused[0], error)
    assert not len(passed)
    assert words(await runtime.readers.run(stored, stream_id)) == ["a", "c"]
    assert words(await runtime.readers.run(stored, other)) == ["b"]
    await runtime.readers.run(assert_contiguous, stream_id)


async def test_a_fenced_item_is_refused_alone_and_the_others_of_its_commit_pass(
    runtime: Runtime,
) -> None:
    def claims() -> tuple[UUID, log.Claim, log.Claim, log.Claim]:
        stream_id = new_stream()
        old, mine = log.claim(stream_id, "task:1"), log.claim(stream_id, "task:2")
        return stream_id, old, mine, log.claim(stream_id, "task:1")

    stream_id, old, mine, new = await runtime.readers.run(claims)
    refused = Refused()
    with a_busy_writer(runtime.writer):
        runtime.writer.put(saying(stream_id, "a", claim=mine))
        runtime.writer.put(saying(stream_id, "late", claim=old, failed=refused))
        runtime.writer.put(saying(stream_id, "b", claim=new))
        runtime.writer.put(saying(stream_id, "later", claim=old, failed=refused))
        runtime.writer.put(saying(stream_id, "c", claim=mine))
    await runtime.writer.drained()
    assert [type(error) for error in refused] == [Fenced, Fenced]
    assert words(await runtime.readers.run(stored, stream_id)) == ["a", "b", "c"]
    assert await runtime.readers.run(log.rows_through, mine) == 2


async def test_a_speaker_whose_answer_breaks_does_not_break_the_writer(runtime: Runtime) -> None:
    stream_id = await runtime.readers.run(new_stream)

    def break_down(error: Exception) -> None:
        raise RuntimeError("no loop")

    runtime.writer.put(saying(uuid4(), "x", failed=break_down))
    await put(runtime.writer, saying(stream_id, "a"))
    async with asyncio.timeout(5):
        assert await runtime.writer.call(lambda: 1) == 1
    assert words(await runtime.readers.run(stored, stream_id)) == ["a"]


# --- what may pass -----------------------------------------------------------------------------
async def test_a_write_that_may_pass_is_tried_again(runtime: Runtime) -> None:
    stream_id = await runtime.readers.run(new_stream)
    with commits_that(be_lost, times=2) as lost:
        refused = Refused()
        await put(runtime.writer, saying(stream_id, "a", "b", failed=refused))
        await runtime.writer.drained()
    assert len(lost) == 2
    assert not len(refused)
    assert words(await runtime.readers.run(stored, stream_id)) == ["a", "b"]
    await runtime.readers.run(assert_contiguous, stream_id)


async def test_an_action_that_may_pass_is_tried_again(runtime: Runtime) -> None:
    stream_id = await runtime.readers.run(new_stream)
    tries: list[int] = []

    def act() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise OperationalError("database is locked")
        log.append(stream_id, [word("a")])
        return "done"

    assert await runtime.writer.call(act) == "done"
    assert len(tries) == 3
    assert words(await runtime.readers.run(stored, stream_id)) == ["a"]


async def test_a_write_that_does_not_pass_in_time_stops_who_spoke(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(RETRY_S=0.2)
    stream_id = await runtime.readers.run(new_stream)
    refused = Refused()
    with commits_that(be_lost, times=1000):
        await put(runtime.writer, saying(stream_id, "a", failed=refused))
        await until(lambda: len(refused))
    assert [error.code for error in refused if isinstance(error, LogError)] == ["storage"]
    await put(runtime.writer, saying(stream_id, "b"))
    await runtime.writer.drained()
    assert words(await runtime.readers.run(stored, stream_id)) == ["b"]


async def test_an_action_that_does_not_pass_in_time_fails(start_runtime: StartRuntime) -> None:
    runtime = await start_runtime(RETRY_S=0.2)

    def act() -> None:
        raise OperationalError("database is locked")

    with pytest.raises(LogError, match="locked"):
        await runtime.writer.call(act)


# --- a commit of unknown outcome ---------------------------------------------------------------
def claimed() -> tuple[UUID, log.Claim]:
    stream_id = new_stream()
    return stream_id, log.claim(stream_id, "task:1")


async def test_a_commit_that_arrived_unheard_is_never_doubled(runtime: Runtime) -> None:
    stream_id, claim = await runtime.readers.run(claimed)
    refused = Refused()
    with commits_that(arrive_unheard) as lost:
        with a_busy_writer(runtime.writer):
            for text in "abc":
                runtime.writer.put(saying(stream_id, text, claim=claim, failed=refused))
        await runtime.writer.drained()
    assert lost
    assert not len(refused)
    assert words(await runtime.readers.run(stored, stream_id)) == ["a", "b", "c"]


async def test_nor_are_the_words_of_those_who_hold_no_claim(runtime: Runtime) -> None:
    stream_id, claim = await runtime.readers.run(claimed)
    other = await runtime.readers.run(new_stream)
    with commits_that(arrive_unheard):
        with a_busy_writer(runtime.writer):
            runtime.writer.put(saying(stream_id, "a", claim=claim))
            runtime.writer.put(saying(stream_id, "b"))
            runtime.writer.put(saying(other, "c"))
        await runtime.writer.drained()
    assert words(await runtime.readers.run(stored, stream_id)) == ["a", "b"]
    assert words(await runtime.readers.run(stored, other)) == ["c"]


async def test_nor_where_nobody_holds_one(runtime: Runtime) -> None:
    stream_id = await runtime.readers.run(new_stream)
    with commits_that(arrive_unheard):
        runtime.writer.put(saying(stream_id, "a"))
        await runtime.writer.drained()
    assert words(await runtime.readers.run(stored, stream_id)) == ["a"]


async def test_what_was_refused_in_a_commit_that_arrived_unheard_is_told_to_its_speaker(
    runtime: Runtime,
) -> None:
    stream_id, claim = await runtime.readers.run(claimed)
    large: Draft = draft(Voice(), v.Status(message="x" * 70_000), limit=200_000)
    refused = Refused()
    with commits_that(arrive_unheard):
        with a_busy_writer(runtime.writer):
            runtime.writer.put(saying(stream_id, "a", claim=claim))
            runtime.writer.put(Append(stream_id, [large], claim, refused))
        await runtime.writer.drained()
    assert [type(error) for error in refused] == [EventTooLarge]
    assert words(await runtime.readers.run(stored, stream_id)) == ["a"]


@pytest.mark.parametrize("with_claim", [True, False])
async def test_an_action_whose_commit_arrived_unheard_is_not_carried_out_twice(
    runtime: Runtime, with_claim: bool
) -> None:
    stream_id, claim = await runtime.readers.run(claimed)
    used = claim if with_claim else None

    def act() -> str:
        with transaction.atomic():
            log.append(stream_id, [word("a")], used)
        return "done"

    with commits_that(arrive_unheard) as lost:
        outcome = await asyncio.gather(runtime.writer.call(act, used), return_exceptions=True)
    assert lost
    assert list(outcome) == ["done"] if with_claim else isinstance(outcome[0], CommitUnknown)
    assert words(await runtime.readers.run(stored, stream_id)) == ["a"]


async def test_an_action_under_a_claim_whose_commit_was_lost_is_carried_out_again(
    runtime: Runtime,
) -> None:
    stream_id, claim = await runtime.readers.run(claimed)

    def act() -> str:
        log.append(stream_id, [word("a")], claim)
        return "done"

    with commits_that(be_lost) as lost:
        assert await runtime.writer.call(act, claim) == "done"
    assert lost
    assert words(await runtime.readers.run(stored, stream_id)) == ["a"]


@pytest.mark.servers
async def test_the_thread_survives_a_connection_that_is_gone(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(RETRY_S=0.3)
    stream_id = await runtime.readers.run(new_stream)

    def cut() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    await put(runtime.writer, saying(stream_id, "a"))
    with pytest.raises(LogError):
        await runtime.writer.call(cut)
    await put(runtime.writer, saying(stream_id, "b"))
    await runtime.writer.drained()
    assert words(await runtime.readers.run(stored, stream_id)) == ["a", "b"]
