"""boot: starts and stops the machinery of a server process, from whichever door comes first."""

from __future__ import annotations

import asyncio
import logging

from django.conf import settings
from django.utils.module_loading import import_string

from streaming import runtime
from streaming.runtime import Runtime

from .base import Engine

logger = logging.getLogger(__name__)


class House:
    """The runtime and the engine of this process."""

    def __init__(self) -> None:
        self.runtime = Runtime()
        self.engine: Engine = import_string(settings.ENGINE)(self.runtime)

    async def start(self) -> None:
        """Start the runtime, then the engine on it."""
        await self.runtime.start()
        await self.engine.start()

    async def stop(self) -> None:
        """Stop them: sockets first, then the engine, then the writer."""
        self.runtime.stopping.set()
        await asyncio.sleep(0.05)  # for the last frames to leave
        await self.engine.stop()
        await self.runtime.stop()


_house: House | None = None


async def start() -> House:
    """Start the house, once; later calls return the same."""
    global _house
    if _house is None:
        _house = House()
        await _house.start()
        logger.info("the engine is ready")
    return _house


async def stop() -> None:
    """Stop the house, if it was started."""
    global _house
    if _house is not None:
        house, _house = _house, None
        await house.stop()


def is_ready() -> bool:
    """Tell whether the machinery of this process runs."""
    return _house is not None and runtime.current() is _house.runtime
