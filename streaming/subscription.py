"""follow(): the one loop. Replay, live, reconnect, a lost bell, a filtered lane: all of it is here.

Read what is after the cursor, send it, wait for the bell.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from .conf import conf
from .events import TERMINAL
from .faces import Face, View
from .feed import Feed
from .flow import Flow
from .text import size


@dataclass(frozen=True, slots=True)
class Delivery:
    """A frame to send, and the place in the log that the follower has after it."""

    text: str
    upto: int


@dataclass(frozen=True, slots=True)
class Complete:
    """The end: everything is delivered and nothing can follow."""

    cursor: str
    status: str


async def follow(
    feed: Feed, after: int, face: Face, view: View, flow: Flow
) -> AsyncIterator[Delivery | Complete]:
    """Yield what a follower has not seen, from `after` on, until the log is closed.

    The follower owns its place: it is cut by cancelling this generator, and goes on elsewhere by
    calling it again with the `upto` that it last got.
    """
    limits = conf()
    told = seen = after  # `told` is what the follower knows; it lags where the filter hides
    last_type = ""
    told_at = time.monotonic()
    with feed.bell() as bell:
        while True:
            bell.clear()
            records = await feed.read(seen)
            if not records:
                if feed.closed and seen >= feed.head:
                    if told < seen:
                        yield Delivery(face.empty(view, told, seen), seen)
                    yield Complete(f"{feed.epoch}:{seen}", TERMINAL[await _end(feed, last_type)])
                    return
                due = told_at + limits.quiet_frame_s if told < seen else None
                if not await _wait(bell, due):
                    yield Delivery(face.empty(view, told, seen), seen)
                    told, told_at = seen, time.monotonic()
                continue
            while records:
                most = await flow.room()
                frame = await face.frame(feed, view, told, records, most)
                last_type = records[frame.taken - 1].type
                records = records[frame.taken :]
                seen = max(seen, frame.upto)
                if frame.events or seen - told >= limits.quiet_frame_events:
                    flow.sent(frame.upto, frame.events, size(frame.text))
                    yield Delivery(frame.text, frame.upto)
                    told, told_at = seen, time.monotonic()
                await asyncio.sleep(0)  # a send that never waits must not starve the others


async def _wait(bell: asyncio.Event, due: float | None) -> bool:
    """Wait for the bell, or until `due`; tell whether it rang."""
    if due is None:
        return await bell.wait()
    try:
        async with asyncio.timeout(max(0.0, due - time.monotonic())):
            return await bell.wait()
    except TimeoutError:
        return False


async def _end(feed: Feed, last_type: str) -> str:
    """Return the type of the terminal event, read again where the follower began behind it."""
    if last_type in TERMINAL:
        return last_type
    records = await feed.read(feed.head - 1)
    return records[-1].type
