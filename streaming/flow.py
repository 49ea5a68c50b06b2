"""Flow control: how much may be on its way to a reader that has not said it arrived.

Daphne has no back-pressure: what is sent to a reader that does not read is kept in memory. So the
application counts. With a window the reader acknowledges (`credit`); without one it is throttled.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Protocol

from .exceptions import StreamingError


class SlowConsumer(StreamingError):
    """The reader has taken nothing for too long; it may come back with its cursor."""

    code = "slow_consumer"
    retryable = True


class Flow(Protocol):
    """Says when the next frame may be sent."""

    async def room(self) -> int:
        """Wait for room; return how many events the next frame may hold, at least one."""

    def sent(self, upto: int, events: int, size: int) -> None:
        """Count a frame that was sent."""

    def credit(self, seq: int) -> None:
        """Take the reader's word that it has everything up to `seq`."""


class Window:
    """At most `events` events or `size` bytes that are not acknowledged."""

    def __init__(self, events: int, size: int, slow_s: float) -> None:
        self._events, self._size, self._slow_s = events, size, slow_s
        self._sent: deque[tuple[int, int, int]] = deque()
        self._open_events = self._open_size = 0
        self._progress = asyncio.Event()

    async def room(self) -> int:
        """Wait until the reader has acknowledged enough; raise `SlowConsumer` if it does not."""
        while self._open_events >= self._events or self._open_size >= self._size:
            self._progress.clear()
            try:
                async with asyncio.timeout(self._slow_s):
                    await self._progress.wait()
            except TimeoutError:
                raise SlowConsumer from None
        return self._events - self._open_events

    def sent(self, upto: int, events: int, size: int) -> None:
        """Count a frame; an empty one says nothing that has to be acknowledged."""
        if events:
            self._sent.append((upto, events, size))
            self._open_events += events
            self._open_size += size

    def credit(self, seq: int) -> None:
        """Give back what reached the reader."""
        while self._sent and self._sent[0][0] <= seq:
            _, events, size = self._sent.popleft()
            self._open_events -= events
            self._open_size -= size
            self._progress.set()


class Throttle:
    """A token bucket of bytes, for readers that acknowledge nothing."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._tokens = burst
        self._at = time.monotonic()

    async def room(self) -> int:
        """Wait until the bucket is not empty."""
        now = time.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
        if self._tokens <= 0:
            await asyncio.sleep(-self._tokens / self._rate)
        return 1 << 30

    def sent(self, upto: int, events: int, size: int) -> None:
        """Take the frame's bytes out of the bucket."""
        self._tokens -= size

    def credit(self, seq: int) -> None:
        """Change nothing: a throttled reader need not acknowledge."""
