"""A reader that does not read costs bounded memory and delays nobody."""

from __future__ import annotations

import asyncio
import time

import pytest

from streaming.flow import Flow, SlowConsumer, Throttle, Window
from streaming.runtime import Runtime

from .conftest import StartRuntime
from .followers import Follower
from .logs import close, new_stream, until, write

SIZE = 1000


async def a_log(runtime: Runtime, events: int = 300) -> Follower:
    """Return a follower of a log of so many events of a thousand bytes."""
    stream_id = await runtime.readers.run(new_stream)
    await runtime.readers.run(lambda: write(stream_id, *["x" * SIZE] * (events - 1)))
    await runtime.readers.run(close, stream_id)
    return Follower(runtime, stream_id)


@pytest.mark.parametrize(
    ("window", "size", "most"), [(10, 10**9, 10), (1000, 20_000, 19), (1, 1, 1)]
)
async def test_no_more_is_on_its_way_than_the_window_holds(
    runtime: Runtime, window: int, size: int, most: int
) -> None:
    follower = await a_log(runtime)
    follower.flow = Window(window, size, slow_s=0.1)
    with pytest.raises(SlowConsumer):
        await follower.run()
    if size == 20_000:  # it stops at the first frame that passes the bytes
        assert 0 < len(follower.events) <= 64 + most
    else:
        assert len(follower.events) == most


async def test_a_reader_that_acknowledges_gets_everything_and_never_more_than_its_window(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(FRAME_EVENTS=5)
    follower = await a_log(runtime)
    flow = Window(12, 10**9, slow_s=5)
    follower.flow = flow
    acknowledged = 0

    async def acknowledge() -> None:
        nonlocal acknowledged
        while follower.end is None:
            await asyncio.sleep(0.001)
            assert follower.seen - acknowledged <= 12
            acknowledged = follower.seen
            flow.credit(acknowledged)

    async with asyncio.timeout(20):
        await asyncio.gather(follower.run(), acknowledge())
    assert follower.seqs == list(range(1, 301))


async def test_credit_for_a_part_of_what_is_on_its_way_gives_back_that_part() -> None:
    flow = Window(10, 10**9, slow_s=0.05)
    for upto in (3, 6, 10):
        flow.sent(upto, 3 if upto < 10 else 4, 100)
    with pytest.raises(SlowConsumer):
        await flow.room()
    flow.credit(2)  # no whole frame of it has arrived
    with pytest.raises(SlowConsumer):
        await flow.room()
    flow.credit(6)
    assert await flow.room() == 6
    flow.credit(6)
    flow.credit(3)
    assert await flow.room() == 6
    flow.credit(10**9)
    assert await flow.room() == 10


async def test_an_empty_frame_needs_no_acknowledgement() -> None:
    flow = Window(1, 1, slow_s=0.05)
    for upto in range(100):
        flow.sent(upto, 0, 50)
    assert await flow.room() == 1


async def test_progress_in_time_keeps_a_slow_reader_alive() -> None:
    flow = Window(1, 10**9, slow_s=0.2)
    for seq in range(5):
        flow.sent(seq, 1, 1)
        asyncio.get_running_loop().call_later(0.08, flow.credit, seq)
        assert await flow.room() == 1


async def test_a_reader_without_a_window_gets_a_burst_and_then_so_many_bytes_a_second(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(FRAME_EVENTS=2)
    follower = await a_log(runtime, 2000)
    rate, burst = 100_000, 20_000
    follower.flow = Throttle(rate, burst)
    began = time.monotonic()
    following = asyncio.create_task(follower.run())
    await asyncio.sleep(0.5)
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    took = time.monotonic() - began
    sent = sum(len(str(frame)) for frame in follower.frames)
    assert sent <= burst + rate * took + 3 * SIZE
    assert sent >= burst + rate * took * 0.5
    follower.flow.credit(10**9)  # says nothing here


async def test_a_throttled_reader_that_is_quiet_saves_up_no_more_than_a_burst() -> None:
    flow = Throttle(1_000_000, 1000)
    flow.sent(1, 1, 1000)
    await asyncio.sleep(0.05)
    await flow.room()
    flow.sent(2, 1, 1500)  # a frame is sent whole
    began = time.monotonic()
    await flow.room()
    assert time.monotonic() - began < 0.1


@pytest.mark.parametrize("ring", [{}, {"RING_EVENTS": 1}])
async def test_a_reader_that_is_held_up_holds_little_of_what_it_has_read(
    start_runtime: StartRuntime, ring: dict[str, int]
) -> None:
    runtime = await start_runtime(**ring)
    stream_id = await runtime.readers.run(new_stream)
    async with runtime.hub.watch(stream_id) as feed:
        for _ in range(20):
            await runtime.readers.run(lambda: write(stream_id, *["x" * 60_000] * 5))
        await until(lambda: feed.head == 100)
        seen, reads = 0, 0
        while records := await feed.read(seen):
            assert sum(len(record.text) for record in records) < 400_000
            assert records[0].seq == seen + 1
            seen, reads = records[-1].seq, reads + 1
        assert (seen, reads) == (100, 20)


@pytest.mark.parametrize("stuck", [Window(5, 10**9, slow_s=60), Throttle(1, 1)])
async def test_a_reader_that_is_stuck_delays_nobody(runtime: Runtime, stuck: Flow) -> None:
    stream_id = await runtime.readers.run(new_stream)
    slow, fast = Follower(runtime, stream_id, flow=stuck), Follower(runtime, stream_id)
    tasks = [asyncio.create_task(follower.run()) for follower in (slow, fast)]
    for _ in range(50):
        await runtime.readers.run(lambda: write(stream_id, *["x"] * 20))
    await runtime.readers.run(close, stream_id)
    async with asyncio.timeout(10):
        await tasks[1]
    assert len(fast.events) == 1001
    assert len(slow.events) < 100
    assert not tasks[0].done()
    tasks[0].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
