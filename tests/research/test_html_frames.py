"""The html face as followers meet it: frames from a feed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from research.engine.boot import House
from research.faces import html
from research.faces.html import HtmlFace
from streaming import log
from streaming.faces import Filter, View
from streaming.feed import Feed
from tests.research import recorded

EVENTS = recorded.whole()
ALL = View("s1", Filter())


@pytest.fixture
async def run_id(house: House, user: User) -> UUID:
    run = await house.runtime.readers.run(recorded.record, user, EVENTS[:60])
    return run.pk  # type: ignore[no-any-return]


@pytest.fixture
async def feed(house: House, run_id: UUID) -> AsyncIterator[Feed]:
    async with house.runtime.hub.watch(run_id) as feed:
        yield feed


async def frame(face: HtmlFace, feed: Feed, after: int, view: View = ALL) -> dict[str, Any]:
    made = await face.frame(feed, view, after, await feed.read(after), 64)
    value: dict[str, Any] = json.loads(made.text)
    assert (value["upto"], len(value["ops"])) == (made.upto, made.events)
    return value


async def test_one_frame_covers_all_from_the_follower_to_the_state(feed: Feed) -> None:
    value = await frame(HtmlFace(), feed, 40)
    assert (value["type"], value["sub"], value["after"], value["upto"]) == ("events", "s1", 40, 60)
    assert value["ops"]


async def test_followers_at_the_same_place_share_what_is_rendered(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    body = html._body

    def counted(key: Any, state: Any) -> str:
        made.append(key)
        return body(key, state)

    monkeypatch.setattr(html, "_body", counted)
    face = HtmlFace()
    frames = await asyncio.gather(*(frame(face, feed, 40) for _ in range(20)))
    assert len(made) == 1
    assert all(value == frames[0] for value in frames)
    await frame(face, feed, 40, View("s1", Filter(), "zh-hans"))
    assert len(made) == 2


async def test_a_follower_that_is_cut_while_it_waits_takes_nothing_from_the_others(
    feed: Feed,
) -> None:
    face = HtmlFace()
    first = asyncio.create_task(frame(face, feed, 10))
    second = asyncio.create_task(frame(face, feed, 10))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    first.cancel()
    assert (await second)["upto"] == 60


async def test_events_that_change_nothing_that_is_shown_make_a_frame_of_no_weight(
    feed: Feed, house: House, run_id: UUID
) -> None:
    hidden = View("s1", Filter(stream_token=frozenset({"task_3"})))
    records = await feed.read(58)
    made = await HtmlFace().frame(feed, hidden, 58, records, 64)
    assert (made.events, made.taken, made.upto) == (0, len(records), 60)


async def test_what_is_committed_later_comes_in_the_next_frame(
    feed: Feed, house: House, run_id: UUID
) -> None:
    face = HtmlFace()
    assert (await frame(face, feed, 0))["upto"] == 60
    rest = recorded.drafts(EVENTS[60:])
    with feed.bell() as bell:
        await house.runtime.readers.run(log.append, run_id, rest)
        async with asyncio.timeout(5):
            while feed.head < len(EVENTS):
                bell.clear()
                await bell.wait()
    value = await frame(face, feed, 60)
    assert value["upto"] == len(EVENTS)
    assert "run-head" in [op["id"] for op in value["ops"]]


async def test_a_language_that_is_not_spoken_here_becomes_english(feed: Feed) -> None:
    strange = View("s1", Filter(), "xx-klingon")
    assert (await frame(HtmlFace(), feed, 0, strange))["ops"] == (await frame(HtmlFace(), feed, 0))[
        "ops"
    ]
