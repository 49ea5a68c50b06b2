"""Logs to test with: short ways to make a stream and to write in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from streaming import log
from streaming import vocabulary as v
from streaming.events import Data, Draft, Voice, draft
from streaming.models import EventRow, Stream

ANN = Voice(source_member="ann", stream_token="task_1", work="task:1", attempt=1)
BOB = Voice(source_member="bob", stream_token="task_2", work="task:2", attempt=1)


def new_stream() -> UUID:
    return Stream.objects.create().pk


def word(text: str = "x", voice: Voice = ANN) -> Draft:
    return draft(voice, v.Status(message=text))


def write(stream_id: UUID, *texts: str, voice: Voice = ANN) -> None:
    log.append(stream_id, [word(text, voice) for text in texts])


def say(stream_id: UUID, *data: Data, voice: Voice = ANN) -> None:
    log.append(stream_id, [draft(voice, item) for item in data])


def close(stream_id: UUID) -> None:
    say(stream_id, v.RunCompleted(), voice=Voice())


def stored(stream_id: UUID) -> list[dict[str, Any]]:
    """Return the events of a log, in the order of their places."""
    rows = EventRow.objects.filter(stream_id=stream_id).order_by("seq")
    return [json.loads(text) for text in rows.values_list("text", flat=True)]


def words(events: Sequence[dict[str, Any]]) -> list[str]:
    return [event["data"]["message"] for event in events if event["type"] == "status"]


def assert_contiguous(stream_id: UUID) -> None:
    """Assert that `seq` is 1..head, each once, in the columns and in the texts alike."""
    rows = list(EventRow.objects.filter(stream_id=stream_id).values_list("seq", "text"))
    head = log.head(stream_id).seq
    assert sorted(seq for seq, _ in rows) == list(range(1, head + 1))
    assert all(json.loads(text)["seq"] == seq for seq, text in rows)


async def until(true: Callable[[], Any], seconds: float = 10.0) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.005)
