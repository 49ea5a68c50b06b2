"""The doors through which a server starts and stops the engine.

uvicorn sends ASGI lifespan messages; daphne sends none, but runs a Twisted reactor, which tells
when it begins and before it ends. `start` may be called through both, once or more.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import Any

logger = logging.getLogger(__name__)
Step = Callable[[], Awaitable[None]]


class Lifespan:
    """The ASGI lifespan protocol."""

    def __init__(self, start: Step, stop: Step) -> None:
        self.start = start
        self.stop = stop

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Start when the server starts, stop when it stops."""
        while True:
            message = await receive()
            step = self.start if message["type"] == "lifespan.startup" else self.stop
            try:
                await step()
            except Exception as error:
                logger.exception("%s failed", message["type"])
                await send({"type": f"{message['type']}.failed", "message": str(error)})
                return
            await send({"type": f"{message['type']}.complete"})
            if step is self.stop:
                return


def open_daphne_door(start: Step, stop: Step) -> None:
    """Start and stop with daphne's reactor, if this process is the daphne command."""
    if "daphne.cli" not in sys.modules:
        return
    from twisted.internet import defer, reactor

    async def start_or_leave() -> None:
        try:
            await start()
        except Exception:
            logger.exception("The engine did not start")
            reactor.stop()

    def begin() -> None:
        # The loop of the reactor is set but not yet running here.
        tasks.append(asyncio.ensure_future(start_or_leave(), loop=asyncio.get_event_loop()))

    def end() -> defer.Deferred[None]:
        return defer.Deferred.fromFuture(asyncio.ensure_future(stop()))

    tasks: list[asyncio.Future[None]] = []  # a task that nobody holds may be collected
    reactor.callWhenRunning(begin)
    reactor.addSystemEventTrigger("before", "shutdown", end)
