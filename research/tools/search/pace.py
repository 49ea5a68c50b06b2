"""Pace: how often a provider is asked, whoever asks; where no turn comes soon, it is not asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from .base import ProviderBusy

PATIENCE_S = 1.0


class Pace:
    """Lets `at_once` searches through side by side, each `apart_s` after the one before it."""

    def __init__(self, at_once: int, apart_s: float = 0.0) -> None:
        self._at_once = at_once
        self._apart_s = apart_s
        self._next = 0.0
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn. Raises `ProviderBusy` where that would take too long."""
        loop = asyncio.get_running_loop()
        slots = self._slots.setdefault(loop, asyncio.Semaphore(self._at_once))
        try:
            async with asyncio.timeout(PATIENCE_S):
                await slots.acquire()
        except TimeoutError:
            raise ProviderBusy from None
        try:
            start = max(time.monotonic(), self._next)
            if start - time.monotonic() > PATIENCE_S:
                raise ProviderBusy
            self._next = start + self._apart_s
            await asyncio.sleep(start - time.monotonic())
            yield
        finally:
            slots.release()
