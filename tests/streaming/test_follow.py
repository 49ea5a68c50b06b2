"""A follower that stays gets everything once and in order, wherever and however often it is cut."""

from __future__ import annotations

import asyncio
import itertools
import random
import threading
import time
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streaming import log
from streaming import vocabulary as v
from streaming.commits import Append
from streaming.events import Voice
from streaming.faces import Filter
from streaming.runtime import Runtime

from .conftest import StartRuntime
from .followers import ALL, Follower
from .logs import ANN, BOB, close, new_stream, say, stored, word, words, write

pytestmark = pytest.mark.both
SLOWLY = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
MEMBERS = ["ann", "鲍勃"]
LANES = [None, "task_1", "task_2"]


def of(members: list[str] | None = None, lanes: list[str] | None = None) -> Filter:
    return Filter(
        None if lanes is None else frozenset(lanes),
        None if members is None else frozenset(members),
    )


filters = st.builds(
    of,
    st.none() | st.lists(st.sampled_from(MEMBERS), min_size=1, unique=True),
    st.none() | st.lists(st.sampled_from(["task_1", "task_2"]), min_size=1, unique=True),
)
voices = st.builds(
    Voice, source_member=st.sampled_from(MEMBERS), stream_token=st.sampled_from(LANES)
)


def passes(filter: Filter, event: dict[str, Any]) -> bool:
    """What the protocol says of filters: OR within a key, AND across."""
    return (filter.stream_token is None or event.get("stream_token") in filter.stream_token) and (
        filter.source_member is None or event.get("source_member") in filter.source_member
    )


# --- cuts --------------------------------------------------------------------------------------
async def test_a_reconnect_with_a_cursor_replays_only_what_was_missed_cut_at_every_event(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(FRAME_EVENTS=1)
    stream_id = await runtime.readers.run(new_stream)
    await runtime.readers.run(write, stream_id, *map(str, range(12)))
    await runtime.readers.run(close, stream_id)
    whole = await runtime.readers.run(stored, stream_id)
    for cut in range(len(whole) + 1):
        follower = Follower(runtime, stream_id)
        await follower.run(cut)
        assert follower.seqs == list(range(1, cut + 1))
        await follower.run()
        assert follower.events == whole
        assert follower.end
        assert follower.end.status == "completed"


@SLOWLY
@given(data=st.data())
async def test_the_union_over_all_connections_is_the_filtered_log(
    runtime: Runtime, data: st.DataObject
) -> None:
    """Events come while it follows, while it is away, and before; frames and windows vary."""
    stream_id = await runtime.readers.run(new_stream)
    follower = Follower(runtime, stream_id, data.draw(filters))

    async def more() -> None:
        for voice in data.draw(st.lists(voices, max_size=8)):
            await runtime.readers.run(lambda v=voice: write(stream_id, "x", voice=v))

    await more()
    for deliveries in data.draw(st.lists(st.integers(0, 3), max_size=4)):
        connected = asyncio.create_task(follower.run(deliveries))
        await asyncio.sleep(0)
        await more()
        if data.draw(st.booleans()):
            await asyncio.sleep(0.002)
        connected.cancel()  # where it has not ended by itself
        await asyncio.gather(connected, return_exceptions=True)
        if data.draw(st.booleans()):
            await more()
    last = asyncio.create_task(follower.run())
    await asyncio.sleep(0)
    await more()
    await runtime.readers.run(close, stream_id)
    async with asyncio.timeout(10):
        await last
    whole = await runtime.readers.run(stored, stream_id)
    assert follower.events == [event for event in whole if passes(follower.filter, event)]
    assert follower.seen == len(whole)
    assert follower.end
    assert follower.end.cursor.endswith(f":{len(whole)}")


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
async def test_the_end_tells_how_the_run_ended_to_whoever_comes_early_late_or_filtered(
    runtime: Runtime, status: str
) -> None:
    stream_id = await runtime.readers.run(new_stream)
    ends = {
        "completed": v.RunCompleted(),
        "failed": v.RunFailed(code="x", message="y"),
        "cancelled": v.RunCancelled(),
    }
    early = Follower(runtime, stream_id)
    following = asyncio.create_task(early.run())
    await runtime.readers.run(write, stream_id, "a")
    await runtime.readers.run(say, stream_id, ends[status])
    async with asyncio.timeout(10):
        await following
    late = Follower(runtime, stream_id, seen=2)
    filtered = Follower(runtime, stream_id, of(["nobody"]))
    for follower in (late, filtered):
        async with asyncio.timeout(10):
            await follower.run()
    assert not late.frames
    assert filtered.frames == [{"type": "events", "sub": "s1", "after": 0, "upto": 2, "events": []}]
    for follower in (early, late, filtered):
        assert follower.end
        assert follower.end.status == status
        assert follower.end.cursor.endswith(":2")


# --- nothing before its commit -----------------------------------------------------------------
@pytest.mark.parametrize("kept", [True, False])
async def test_nothing_is_seen_before_its_commit_nor_if_it_is_rolled_back(
    start_runtime: StartRuntime, kept: bool
) -> None:
    runtime = await start_runtime(TICK_S=0.02)
    stream_id = await runtime.readers.run(new_stream)
    await runtime.readers.run(write, stream_id, "before")
    written, go = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                write(stream_id, "a", "b")
                transaction.set_rollback(not kept)
                written.set()
                go.wait(10)
        finally:
            connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    follower = Follower(runtime, stream_id)
    following = asyncio.create_task(follower.run())
    await asyncio.to_thread(written.wait, 10)
    async with runtime.hub.watch(stream_id) as feed:
        for _ in range(10):
            feed.hear(3)  # a rumour of what may never come
            await asyncio.sleep(0.02)
    assert words(follower.events) == ["before"]
    go.set()
    await asyncio.to_thread(thread.join, 10)
    await runtime.readers.run(write, stream_id, "after")
    await runtime.readers.run(close, stream_id)
    async with asyncio.timeout(10):
        await following
    assert words(follower.events) == (
        ["before", "a", "b", "after"] if kept else ["before", "after"]
    )


# --- filters -----------------------------------------------------------------------------------
async def test_a_filter_shows_its_lane_and_member_and_tells_of_the_rest_without_events(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(QUIET_FRAME_S=0.05)
    stream_id = await runtime.readers.run(new_stream)
    follower = Follower(runtime, stream_id, of(["ann"], ["task_1"]))
    await runtime.readers.run(lambda: write(stream_id, "a", voice=ANN))
    await follower.until(1)
    following = asyncio.create_task(follower.until(5))
    await runtime.readers.run(lambda: write(stream_id, "hidden", "hidden", voice=BOB))
    wrong_lane = ANN.within(stream_token="task_2")
    await runtime.readers.run(lambda: write(stream_id, "hidden", "hidden", voice=wrong_lane))
    await following
    assert words(follower.events) == ["a"]
    assert follower.frames[-1]["events"] == []
    assert follower.frames[-1]["upto"] == 5


async def test_hidden_events_cost_an_empty_frame_each_second_or_each_thousand_and_no_more(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(QUIET_FRAME_S=30, QUIET_FRAME_EVENTS=100)
    stream_id = await runtime.readers.run(new_stream)
    follower = Follower(runtime, stream_id, of(["ann"]))
    following = asyncio.create_task(follower.run())
    for _ in range(25):
        await runtime.readers.run(lambda: write(stream_id, *["x"] * 10, voice=BOB))
    await runtime.readers.run(lambda: write(stream_id, "seen"))
    await runtime.readers.run(close, stream_id)
    async with asyncio.timeout(10):
        await following
    hidden = [frame["upto"] for frame in follower.frames if not frame["events"]]
    assert len(hidden) == 3  # two for 250 events, one for the terminal one
    assert words(follower.events) == ["seen"]

    runtime = await start_runtime(QUIET_FRAME_S=0.2, QUIET_FRAME_EVENTS=1000)
    stream_id = await runtime.readers.run(new_stream)
    follower = Follower(runtime, stream_id, of(["ann"]))
    following = asyncio.create_task(follower.run())
    began = time.monotonic()
    while time.monotonic() - began < 0.7:
        await runtime.readers.run(lambda: write(stream_id, "x", voice=BOB))
        await asyncio.sleep(0.01)
    assert 2 <= len(follower.frames) <= 4
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


# --- bursts ------------------------------------------------------------------------------------
@pytest.mark.parametrize("ring", [{}, {"RING_EVENTS": 16}, {"RING_BYTES": 1}])
async def test_whoever_comes_at_any_instant_of_a_burst_gets_all_of_it(
    start_runtime: StartRuntime, ring: dict[str, int]
) -> None:
    runtime = await start_runtime(**ring)
    stream_id = await runtime.readers.run(new_stream)
    total, chance = 3000, random.Random(7)
    followers: list[Follower] = []
    following: list[asyncio.Task[None]] = []

    async def speak() -> None:
        said = 0
        while said < total - 1:
            some = min(chance.randint(1, 9), total - 1 - said)
            drafts = [word(str(said + i)) for i in range(some)]
            runtime.writer.put(Append(stream_id, drafts, None, _never))
            await runtime.writer.room()
            said += some
            await asyncio.sleep(0)
        await runtime.writer.call(lambda: close(stream_id))

    async def come() -> None:
        for number in range(24):
            head = await runtime.readers.run(log.head, stream_id)
            after = chance.choice([0, head.seq, chance.randint(0, head.seq)])
            filter = ALL if number % 3 else of(["ann"])
            follower = Follower(runtime, stream_id, filter, seen=after)
            followers.append(follower)
            following.append(asyncio.create_task(_in_pieces(follower, chance)))
            follower.frames.append({"after": after})
            await asyncio.sleep(chance.random() * 0.02)

    async with asyncio.timeout(30):
        await asyncio.gather(speak(), come())
        await asyncio.gather(*following)
    whole = await runtime.readers.run(stored, stream_id)
    assert len(whole) == total
    assert len(followers) == 24
    for follower in followers:
        after = follower.frames[0]["after"]
        assert follower.events == [
            event for event in whole[after:] if passes(follower.filter, event)
        ]
        assert follower.end


async def _in_pieces(follower: Follower, chance: random.Random) -> None:
    """Follow over many short connections, and one to the end."""
    for _ in range(chance.randint(0, 3)):
        if follower.end is None:
            await follower.run(chance.randint(1, 20))
    if follower.end is None:
        await follower.run()


def _never(error: Exception) -> None:
    raise error


async def test_frames_hold_no_more_events_and_bytes_than_they_may_and_at_least_one_event(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(FRAME_EVENTS=10, FRAME_BYTES=3000)
    stream_id = await runtime.readers.run(new_stream)
    sizes = [10] * 30 + [1000] * 10 + [20_000] * 3 + [10] * 5
    await runtime.readers.run(lambda: write(stream_id, *["x" * size for size in sizes]))
    await runtime.readers.run(close, stream_id)
    follower = Follower(runtime, stream_id)
    await follower.run()
    assert len(follower.events) == len(sizes) + 1
    for frame in follower.frames:
        many = frame["events"]
        assert 1 <= len(many) <= 10
        size = sum(len(event["data"].get("message", "")) for event in many)
        assert size <= 3000 or len(many) == 1
    assert len(follower.frames) < 20  # and they are filled


async def test_a_follower_lets_the_others_run_between_its_frames(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(FRAME_EVENTS=1)
    stream_id = await runtime.readers.run(new_stream)
    await runtime.readers.run(lambda: write(stream_id, *["x"] * 400))
    await runtime.readers.run(close, stream_id)
    follower = Follower(runtime, stream_id)
    got: list[int] = []

    async def look() -> None:
        while True:
            got.append(len(follower.frames))
            await asyncio.sleep(0)

    looking = asyncio.create_task(look())
    await follower.run()
    got.append(len(follower.frames))
    looking.cancel()
    assert len(follower.frames) == 401
    assert max(after - before for before, after in itertools.pairwise(got)) <= 2
