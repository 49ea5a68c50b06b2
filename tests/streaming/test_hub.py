"""Bells are lost, doubled, late and out of order; followers get everything all the same."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import random
import subprocess
import sys
import textwrap
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import pytest
from channels.layers import InMemoryChannelLayer
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streaming import groups, log
from streaming.exceptions import NotFound
from streaming.feed import Feed
from streaming.models import Stream
from streaming.runtime import Runtime

from . import world
from .conftest import StartRuntime
from .followers import Follower
from .logs import close, new_stream, stored, until, words, write

ROOT = Path(__file__).resolve().parents[2]
BOTH = pytest.mark.both


async def another_process(start_runtime: StartRuntime, **given: Any) -> Runtime:
    """Start a second runtime that does not hear of this process's commits but by its bells."""
    runtime = await start_runtime(**given)
    log.committed.disconnect(runtime.hub._on_commit)
    return runtime


async def assert_everything_arrives(
    writes_in: Runtime, follows_in: Runtime, events: int = 30, seconds: float = 10.0
) -> None:
    stream_id = await writes_in.readers.run(new_stream)
    followers = [Follower(follows_in, stream_id) for _ in range(2)]
    following = [asyncio.create_task(follower.run()) for follower in followers]
    for number in range(events):
        await writes_in.readers.run(write, stream_id, str(number))
        await asyncio.sleep(0.002)
    await writes_in.readers.run(close, stream_id)
    async with asyncio.timeout(seconds):
        await asyncio.gather(*following)
    whole = await writes_in.readers.run(stored, stream_id)
    for follower in followers:
        assert follower.events == whole


# --- bells -------------------------------------------------------------------------------------
@BOTH
async def test_a_bell_alone_carries_another_processs_commits(start_runtime: StartRuntime) -> None:
    here = await start_runtime(TICK_S=600)
    there = await another_process(start_runtime, TICK_S=600)
    await assert_everything_arrives(here, there)


@BOTH
async def test_a_bell_rings_for_who_watches_from_the_very_first_moment(
    start_runtime: StartRuntime,
) -> None:
    here = await start_runtime(TICK_S=600)
    stream_id = await here.readers.run(new_stream)
    there = Runtime()
    await there.hub.start()
    log.committed.disconnect(there.hub._on_commit)
    try:
        async with there.hub.watch(stream_id) as feed:  # before it could listen to its channel
            await here.readers.run(write, stream_id, "x")
            await until(lambda: feed.head == 1, 5)
    finally:
        await there.hub.stop()
        await asyncio.to_thread(there.readers.stop)


@BOTH
async def test_without_any_bell_the_tick_carries_them(start_runtime: StartRuntime) -> None:
    here = await start_runtime(TICK_S=600)
    there = await another_process(start_runtime, TICK_S=0.03)
    there.hub._layer = DeafLayer()
    await assert_everything_arrives(here, there)


class DeafLayer(InMemoryChannelLayer):
    """A layer whose bells never ring."""

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        pass

    async def receive(self, channel: str) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError


class LossyLayer(InMemoryChannelLayer):
    """A layer that drops half of what is sent, and says nothing."""

    chance = random.Random(5)
    dropped = 0

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        if self.chance.random() < 0.5:
            LossyLayer.dropped += 1
            return
        await super().group_send(group, message)


class BrokenLayer(InMemoryChannelLayer):
    """A layer that is down."""

    async def group_add(self, group: str, channel: str) -> None:
        raise ConnectionError("no redis")

    async def group_discard(self, group: str, channel: str) -> None:
        raise ConnectionError("no redis")

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        raise ConnectionError("no redis")

    async def receive(self, channel: str) -> dict[str, Any]:
        raise ConnectionError("no redis")


def in_memory(name: str, **config: Any) -> dict[str, Any]:
    return {"default": {"BACKEND": f"{__name__}.{name}", "CONFIG": config}}


@pytest.mark.parametrize(
    "layer", [in_memory("LossyLayer"), in_memory("LossyLayer", capacity=1)], ids=["half", "one"]
)
async def test_half_of_the_bells_lost_costs_a_tick_and_no_event(
    start_runtime: StartRuntime, settings: Any, layer: dict[str, Any]
) -> None:
    settings.CHANNEL_LAYERS = layer
    here = await start_runtime(TICK_S=0.05)
    there = await another_process(start_runtime, TICK_S=0.05)
    before = LossyLayer.dropped
    await assert_everything_arrives(here, there, 100)
    assert LossyLayer.dropped > before


async def test_a_layer_that_holds_one_message_costs_no_event(
    start_runtime: StartRuntime, settings: Any
) -> None:
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels.layers.InMemoryChannelLayer",
            "CONFIG": {"capacity": 1},
        }
    }
    here = await start_runtime(TICK_S=0.05)
    there = await another_process(start_runtime, TICK_S=0.05)
    await assert_everything_arrives(here, there, 100)


async def test_a_layer_that_is_down_costs_this_process_nothing_and_others_a_tick(
    start_runtime: StartRuntime, settings: Any
) -> None:
    settings.CHANNEL_LAYERS = in_memory("BrokenLayer")
    here = await start_runtime(TICK_S=0.05)
    there = await another_process(start_runtime, TICK_S=0.05)
    await assert_everything_arrives(here, here)
    await assert_everything_arrives(here, there)


@BOTH
async def test_nonsense_in_the_hubs_channel_stops_no_bell(start_runtime: StartRuntime) -> None:
    here = await start_runtime(TICK_S=0.05)
    there = await another_process(start_runtime, TICK_S=0.05)
    stream_id = await here.readers.run(new_stream)
    async with there.hub.watch(stream_id):
        await there.hub._layer.group_send(groups.run_group(stream_id), {"type": "stream.bell"})
        await asyncio.sleep(0.2)
    await assert_everything_arrives(here, there)


@BOTH
async def test_a_bell_for_what_is_not_there_yet_or_never_comes_does_no_harm(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(TICK_S=600)
    stream_id = await runtime.readers.run(new_stream)
    async with runtime.hub.watch(stream_id) as feed:
        with mock.patch.object(log, "read_after", wraps=log.read_after) as reads:
            feed.hear(1_000_000)
            await asyncio.sleep(0.1)
        assert reads.call_count == 1  # it asks once, and does not hope
        assert feed.head == 0
        await runtime.readers.run(write, stream_id, "x")
        await until(lambda: feed.head == 1)


# --- another process ---------------------------------------------------------------------------
def url_of_the_test_database() -> str:
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))


SPEAKER = """
    import asyncio, os, sys, uuid
    import django
    django.setup()
    from streaming import log, vocabulary as v
    from streaming.events import Voice, draft
    from streaming.runtime import Runtime
    from streaming.commits import Append

    async def main() -> None:
        runtime = Runtime()
        await runtime.start()
        stream_id = uuid.UUID(sys.argv[1])
        for number in range(200):
            said = [draft(Voice(source_member="there"), v.Status(message=f"there{number}"))]
            runtime.writer.put(Append(stream_id, said, None, print))
            await asyncio.sleep(0.001)
        await runtime.writer.drained()
        await asyncio.sleep(0.2)
        await runtime.stop()

    asyncio.run(main())
"""


@BOTH
async def test_a_real_second_process_that_writes_at_the_same_time_is_followed_here(
    start_runtime: StartRuntime, tmp_path: Path
) -> None:
    runtime = await start_runtime(TICK_S=600)
    stream_id = await runtime.readers.run(new_stream)
    follower = Follower(runtime, stream_id)
    following = asyncio.create_task(follower.run())
    env = os.environ | {
        "DJANGO_SETTINGS_MODULE": "project.settings",
        "DATABASE_URL": url_of_the_test_database(),
        "DATA_DIR": str(tmp_path),
    }
    script = [sys.executable, "-c", textwrap.dedent(SPEAKER), str(stream_id)]
    there = await asyncio.create_subprocess_exec(
        *script, env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    for number in itertools.count():
        await runtime.readers.run(write, stream_id, f"here{number}")
        await asyncio.sleep(0.005)
        if there.returncode is not None:
            break
    output, _ = await there.communicate()
    assert there.returncode == 0, output.decode()
    await runtime.readers.run(close, stream_id)
    async with asyncio.timeout(10):
        await following
    assert follower.events == await runtime.readers.run(stored, stream_id)
    said = words(follower.events)
    assert [text for text in said if text.startswith("there")] == [f"there{i}" for i in range(200)]
    mine = [text for text in said if text.startswith("here")]
    assert mine == [f"here{i}" for i in range(number + 1)]


# --- batches in any order ----------------------------------------------------------------------
@pytest.fixture
def batches() -> Iterator[list[log.Batch]]:
    heard: list[log.Batch] = []

    def hear(batch: log.Batch, **kwargs: object) -> None:
        heard.append(batch)

    log.committed.connect(hear)
    yield heard
    log.committed.disconnect(hear)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
async def test_batches_that_come_in_any_order_or_twice_or_not_are_followed_in_order(
    runtime: Runtime, batches: list[log.Batch], data: st.DataObject
) -> None:
    stream_id = await runtime.readers.run(new_stream)
    begin = await runtime.readers.run(log.head, stream_id)
    batches.clear()
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=8))
    for size in sizes:
        await runtime.readers.run(lambda s=size: write(stream_id, *["x"] * s))
    feed = Feed(stream_id, begin, runtime.readers, runtime.conf, world.fold)
    order = data.draw(st.permutations(batches))
    order = [batch for batch in order for _ in range(data.draw(st.integers(0, 2)))]
    for batch in [*order, batches[-1]]:  # the last word always comes, were it by the tick
        feed.add(batch)
        if data.draw(st.booleans()):
            await asyncio.sleep(0.001)
    await until(lambda: feed.head == sum(sizes))
    texts: list[str] = []
    while records := await feed.read(len(texts)):
        texts += [record.text for record in records]
    expected = await runtime.readers.run(log.read_after, stream_id, 0)
    assert texts == [record.text for record in expected]
    assert (await feed.state()).texts == tuple(texts)


async def test_two_batches_that_reach_the_hub_reversed_are_followed_in_order(
    start_runtime: StartRuntime, batches: list[log.Batch]
) -> None:
    runtime = await another_process(start_runtime, TICK_S=600)
    runtime.hub._layer = DeafLayer()
    stream_id = await runtime.readers.run(new_stream)
    follower = Follower(runtime, stream_id)
    following = asyncio.create_task(follower.until(4))
    await asyncio.sleep(0.05)
    await runtime.readers.run(write, stream_id, "a", "b")
    await runtime.readers.run(write, stream_id, "c", "d")
    for batch in reversed(batches):
        runtime.hub._deliver(batch)
    await following
    assert words(follower.events) == ["a", "b", "c", "d"]


# --- who watches -------------------------------------------------------------------------------
@BOTH
async def test_a_run_that_is_not_there_cannot_be_watched_and_may_be_there_later(
    runtime: Runtime,
) -> None:
    id = uuid4()
    for _ in range(2):
        with pytest.raises(NotFound):
            async with runtime.hub.watch(id):
                pass
    await runtime.readers.run(lambda: Stream.objects.create(id=id))
    async with runtime.hub.watch(id) as feed:
        assert feed.head == 0


@BOTH
async def test_a_commit_in_the_very_moment_in_which_a_feed_is_opened_is_not_missed(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(TICK_S=600)
    stream_id = await runtime.readers.run(new_stream)
    run = runtime.readers.run
    asked: list[log.Head] = []

    async def late(function: Any, *args: Any) -> Any:
        answer = await run(function, *args)
        if function is log.head and not asked:
            asked.append(answer)
            await run(write, stream_id, "x")  # committed and told after the head was read
            await asyncio.sleep(0.05)
        return answer

    with mock.patch.object(runtime.readers, "run", late):
        async with runtime.hub.watch(stream_id) as feed:
            assert asked[0].seq == 0
            await until(lambda: feed.head == 1, 5)


async def test_who_watches_the_same_run_shares_a_feed_and_nobody_leaves_none(
    runtime: Runtime,
) -> None:
    stream_id = await runtime.readers.run(new_stream)
    async with runtime.hub.watch(stream_id) as one, runtime.hub.watch(stream_id) as other:
        assert one is other
        left = weakref.ref(one)
    del one, other
    gc.collect()
    assert left() is None


async def test_comings_and_goings_at_any_moment_leave_no_follower_behind(
    start_runtime: StartRuntime,
) -> None:
    """Nobody is left with a feed that hears nothing any more."""
    runtime = await start_runtime(TICK_S=600)
    stream_id = await runtime.readers.run(new_stream)
    chance = random.Random(11)
    said = 0

    async def come_and_go() -> None:
        for _ in range(15):
            async with runtime.hub.watch(stream_id) as feed:
                if chance.random() < 0.6:
                    await asyncio.sleep(chance.random() * 0.003)
                async with asyncio.timeout(5):
                    target = said
                    while feed.head < target:
                        await asyncio.sleep(0.001)
            if chance.random() < 0.5:
                await asyncio.sleep(chance.random() * 0.003)

    async def speak() -> None:
        nonlocal said
        while True:
            await runtime.readers.run(write, stream_id, "x")
            said += 1
            await asyncio.sleep(0.001)

    speaking = asyncio.create_task(speak())
    async with asyncio.timeout(30):
        await asyncio.gather(*(come_and_go() for _ in range(8)))
    speaking.cancel()
    await asyncio.gather(speaking, return_exceptions=True)


class SlowToLeave(InMemoryChannelLayer):
    """A layer whose answers take a moment, as those of a server do."""

    async def group_discard(self, group: str, channel: str) -> None:
        await asyncio.sleep(0.02)
        await super().group_discard(group, channel)


async def test_who_comes_while_the_last_one_leaves_hears_the_bells(
    start_runtime: StartRuntime, settings: Any
) -> None:
    settings.CHANNEL_LAYERS = in_memory("SlowToLeave")
    here = await start_runtime(TICK_S=600)
    there = await another_process(start_runtime, TICK_S=600)
    stream_id = await here.readers.run(new_stream)

    async def visit() -> None:
        async with there.hub.watch(stream_id):
            pass

    leaving = asyncio.create_task(visit())
    await asyncio.sleep(0.015)
    async with there.hub.watch(stream_id) as feed:
        await leaving
        await asyncio.sleep(0.05)
        await here.readers.run(write, stream_id, "x")
        await until(lambda: feed.head == 1, 5)


# --- memory and state --------------------------------------------------------------------------
async def test_a_feed_keeps_a_bounded_number_of_events_and_bytes(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(RING_EVENTS=50, RING_BYTES=20_000)
    stream_id = await runtime.readers.run(new_stream)
    async with runtime.hub.watch(stream_id) as feed:
        for size in (1, 1000):
            for _ in range(20):
                await runtime.readers.run(lambda s=size: write(stream_id, *["x" * s] * 15))
            await until(lambda: feed.head == feed.rumoured)
            await runtime.writer.drained()
            await asyncio.sleep(0.02)
            assert len(feed._ring) <= 100
            assert sum(len(record.text) for record in feed._ring) <= 40_000 + 15 * 1200
        seqs: list[int] = []
        while records := await feed.read(len(seqs)):
            seqs += [record.seq for record in records]
        assert seqs == list(range(1, 601))


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(st.sampled_from([1, 3, 40]), min_size=1, max_size=6), data=st.data())
async def test_the_state_at_any_moment_is_the_fold_of_the_log(
    start_runtime: StartRuntime, steps: Sequence[int], data: st.DataObject
) -> None:
    runtime = await _small_ring(start_runtime)
    stream_id = await runtime.readers.run(new_stream)
    async with runtime.hub.watch(stream_id) as feed:
        for step in steps:
            await runtime.readers.run(lambda s=step: write(stream_id, *["x"] * s))
            if data.draw(st.booleans()):
                one, two = await asyncio.gather(feed.state(), feed.state())
                assert one.seq >= 0
                whole = await runtime.readers.run(log.read_after, stream_id, 0)
                for state in (one, two):
                    assert state.texts == tuple(record.text for record in whole[: state.seq])
        await until(lambda: feed.head == sum(steps))
        state = await feed.state()
        assert state.seq == sum(steps)


_running: dict[Any, Runtime] = {}


async def _small_ring(start_runtime: StartRuntime) -> Runtime:
    """Start one runtime for all examples of a test."""
    if start_runtime not in _running:
        _running.clear()
        _running[start_runtime] = await start_runtime(RING_EVENTS=10)
    return _running[start_runtime]
