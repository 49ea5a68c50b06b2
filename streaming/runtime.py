"""Runtime: the machinery that a process starts once: writer, readers, hub.

A server, a worker, a command and a test fixture start one each and stop it at their end.
"""

from __future__ import annotations

import asyncio
from typing import Any

from channels.layers import get_channel_layer
from django.utils.module_loading import import_string

from .conf import conf
from .hub import Hub
from .readers import Readers
from .sessions import Sessions
from .writer import EventWriter


class Runtime:
    """Writer, readers, hub and sessions of one process, on one loop."""

    def __init__(self) -> None:
        self.conf = conf()
        self.readers = Readers(self.conf.catchup_threads)
        self.writer = EventWriter(self.conf)
        layer = get_channel_layer()
        assert layer is not None
        fold = import_string(self.conf.fold)
        self.hub = Hub(layer, self.readers, self.conf, fold)
        self.sessions = Sessions(self.readers, self.conf)
        self.access: Any = import_string(self.conf.access)
        self.stopping = asyncio.Event()
        """Set when the process is about to end: sockets say good-bye."""

    async def start(self) -> None:
        """Start the parts, in the order in which they need each other."""
        global _current
        self.writer.start()
        await self.hub.start()
        await self.sessions.start()
        _current = self

    async def stop(self) -> None:
        """Stop them in the other order: sessions, hub, writer, readers."""
        global _current
        _current = None
        self.stopping.set()
        await self.sessions.stop()
        await self.hub.stop()
        await asyncio.to_thread(self.writer.stop, self.conf.drain_s)
        await asyncio.to_thread(self.readers.stop)


_current: Runtime | None = None


def current() -> Runtime | None:
    """Return the runtime of this process, where one is started."""
    return _current
