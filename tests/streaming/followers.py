"""A follower to test with: it checks at every frame that nothing is missing between two of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from streaming.faces import FACES, Filter, View
from streaming.flow import Flow
from streaming.runtime import Runtime
from streaming.subscription import Complete, Delivery, follow

ALL = Filter()


class Unlimited:
    """A flow that never holds anything back."""

    async def room(self) -> int:
        return 1 << 30

    def sent(self, upto: int, events: int, size: int) -> None:
        pass

    def credit(self, seq: int) -> None:
        pass


@dataclass
class Follower:
    """What a client knows: the events it has, and the place in the log that it has after them."""

    runtime: Runtime
    stream_id: UUID
    filter: Filter = ALL
    flow: Flow = field(default_factory=Unlimited)
    seen: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    frames: list[dict[str, Any]] = field(default_factory=list)
    end: Complete | None = None

    @property
    def seqs(self) -> list[int]:
        return [event["seq"] for event in self.events]

    async def deliveries(self) -> AsyncIterator[Delivery]:
        """Follow from where it is, over one connection."""
        view = View("s1", self.filter)
        async with self.runtime.hub.watch(self.stream_id) as feed:
            items = follow(feed, self.seen, FACES["native"], view, self.flow)
            async with aclosing(items):  # type: ignore[type-var]
                async for item in items:
                    if isinstance(item, Complete):
                        assert self.end is None
                        self.end = item
                        continue
                    self._take(item)
                    yield item

    def _take(self, item: Delivery) -> None:
        frame = json.loads(item.text)
        assert frame["after"] == self.seen, "a gap, or something twice"
        assert frame["upto"] == item.upto
        assert frame["upto"] > frame["after"]
        for event in frame["events"]:
            assert self.seen < event["seq"] <= frame["upto"]
            self.seen = event["seq"]
        self.seen = frame["upto"]
        self.events += frame["events"]
        self.frames.append(frame)

    async def run(self, deliveries: int = 1 << 30) -> None:
        """Follow to the end, or until the connection is cut after so many frames."""
        async with aclosing(self.deliveries()) as items:  # type: ignore[type-var]
            if deliveries == 0:
                return
            async for _ in items:
                deliveries -= 1
                if deliveries == 0:
                    return

    async def until(self, seq: int, seconds: float = 10.0) -> None:
        """Follow until it is told of a place in the log."""
        async with asyncio.timeout(seconds), aclosing(self.deliveries()) as items:  # type: ignore[type-var]
            if self.seen >= seq:
                return
            async for _ in items:
                if self.seen >= seq:
                    return
