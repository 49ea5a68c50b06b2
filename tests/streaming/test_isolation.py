"""One run never shows in another, not by a task, not by a member, not by a group."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import pytest
from channels.layers import get_channel_layer
from hypothesis import given
from hypothesis import strategies as st

from streaming import groups
from streaming.events import Voice
from streaming.faces import Filter
from streaming.log import Record
from streaming.runtime import Runtime

from .followers import Follower
from .logs import close, new_stream, stored, word, words, write

RUN = UUID("3f1c6c2e-9d0b-4a55-8a53-2b0f8a4f6d11")


@pytest.mark.both
async def test_runs_side_by_side_with_the_same_names_never_cross(runtime: Runtime) -> None:
    streams = [await runtime.readers.run(new_stream) for _ in range(4)]
    voice = Voice(source_member="研究员", stream_token="task_1", work="task:1", attempt=1)
    followers = [
        Follower(runtime, stream_id, filter)
        for stream_id in streams
        for filter in (
            Filter(),
            Filter(frozenset({"task_1"})),
            Filter(None, frozenset({"研究员"})),
        )
    ]
    following = [asyncio.create_task(follower.run()) for follower in followers]

    async def speak(name: str, stream_id: UUID) -> None:
        for number in range(60):
            await runtime.readers.run(lambda n=number: write(stream_id, f"{name}{n}", voice=voice))
        await runtime.readers.run(lambda: write(stream_id, f"{name}end", voice=voice))
        await runtime.readers.run(close, stream_id)

    async with asyncio.timeout(30):
        await asyncio.gather(*(speak(f"r{i}.", id) for i, id in enumerate(streams)))
        await asyncio.gather(*following)
    for follower in followers:
        index = streams.index(follower.stream_id)
        expected = [*(f"r{index}.{number}" for number in range(60)), f"r{index}.end"]
        assert words(follower.events) == expected
        assert words(await runtime.readers.run(stored, follower.stream_id)) == expected


async def test_a_batch_of_a_run_that_nobody_watches_wakes_nobody(runtime: Runtime) -> None:
    mine, other = [await runtime.readers.run(new_stream) for _ in range(2)]
    async with runtime.hub.watch(mine) as feed:
        with feed.bell() as bell:
            await runtime.readers.run(write, other, "x")
            await runtime.writer.drained()
            await asyncio.sleep(0.05)
            assert not bell.is_set()
            assert feed.head == 0
            await runtime.readers.run(write, mine, "x")
            async with asyncio.timeout(5):
                await bell.wait()


# --- groups ------------------------------------------------------------------------------------
any_name = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)


@given(any_name, st.uuids())
def test_every_name_has_a_group_that_any_layer_takes(name: str, run: UUID) -> None:
    layer = get_channel_layer()
    assert layer
    for group in groups.groups_of(run, [name], [name]):
        assert group.isascii()
        assert len(group) < 100
        assert layer.require_valid_group_name(group)


@given(any_name, any_name, st.uuids(), st.uuids())
def test_other_runs_lanes_and_members_have_other_groups(
    one: str, other: str, run: UUID, another: UUID
) -> None:
    mine = groups.groups_of(run, [one], [one])
    assert len(set(mine)) == 3
    assert mine == groups.groups_of(run, [one], [one])
    if other != one:
        assert len({*mine, *groups.groups_of(run, [other], [other])}) == 5
    if another != run:
        assert not {*mine} & {*groups.groups_of(another, [one], [one])}


def test_what_has_no_lane_and_no_member_rings_only_for_its_run() -> None:
    assert groups.groups_of(RUN, [""], [""]) == [groups.run_group(RUN)]


@pytest.mark.both
async def test_the_bell_rings_for_the_run_its_lanes_and_its_members_and_nobody_else(
    runtime: Runtime,
) -> None:
    layer = get_channel_layer()
    assert layer
    stream_id = await runtime.readers.run(new_stream)
    voice = Voice(source_member="研究员", stream_token="task_1")
    heard = {
        groups.run_group(stream_id): True,
        groups.token_group(stream_id, "task_1"): True,
        groups.member_group(stream_id, "研究员"): True,
        groups.token_group(stream_id, "task_2"): False,
        groups.member_group(stream_id, "研究员-2"): False,
        groups.run_group(uuid4()): False,
        groups.member_group(uuid4(), "研究员"): False,
    }
    channels = {}
    for group in heard:
        channels[group] = await layer.new_channel()
        await layer.group_add(group, channels[group])
    await runtime.readers.run(lambda: write(stream_id, "x", "y", voice=voice))
    for group, rings in heard.items():
        if rings:
            async with asyncio.timeout(5):
                message = await layer.receive(channels[group])
            assert message == {"type": "stream.bell", "run": str(stream_id), "head": 2}
        else:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await layer.receive(channels[group])


# --- filters -----------------------------------------------------------------------------------
def test_a_filter_is_or_within_a_key_and_and_across() -> None:
    def record(lane: str, member: str) -> Record:
        return Record(1, "status", lane, member, word().data)

    shown = Filter(frozenset({"task_1", "task_2"}), frozenset({"ann"}))
    assert shown(record("task_1", "ann"))
    assert shown(record("task_2", "ann"))
    assert not shown(record("task_3", "ann"))
    assert not shown(record("task_1", "bob"))
    assert not shown(record("", ""))
    assert Filter()(record("", ""))
    assert not Filter()
    assert shown
