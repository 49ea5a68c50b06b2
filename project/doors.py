"""The doors through which a server starts and stops the engine.

uvicorn sends ASGI lifespan messages; daphne sends none, but runs a Twisted reactor, which tells
when it begins and before it ends. `start` may be called through both, once or more.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

logger = logging.getLogger(__name__)
Step = Callable[[], Awaitable[object]]
Application = Callable[..., Awaitable[None]]
GOODBYE_S = 1.0


class Doors:
    """Start and stop the engine with whichever server this is."""

    def __init__(self, start: Step, stop: Step) -> None:
        self.start = start
        self.stop = stop
        self.closing = False
        self._starting: asyncio.Future[None] | None = None  # held: else it may be collected
        if "daphne.cli" in sys.modules:  # the daphne command, not a test that borrows its server
            self._open_for_daphne()

    async def lifespan(self, scope: Any, receive: Any, send: Any) -> None:
        """Speak the ASGI lifespan protocol."""
        for name, step in (("startup", self.start), ("shutdown", self.stop)):
            await receive()
            try:
                await step()
            except Exception as error:
                logger.exception("The %s of the engine failed", name)
                await send({"type": f"lifespan.{name}.failed", "message": str(error)})
                return
            await send({"type": f"lifespan.{name}.complete"})

    def shield(self, application: Application) -> Application:
        """Give the application a moment for its last frame where daphne would give it none.

        Daphne cancels everything in the very moment in which it tells of its end.
        """

        async def shielded(scope: Any, receive: Any, send: Any) -> None:
            task = asyncio.ensure_future(application(scope, receive, send))
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError:
                if self.closing:
                    await asyncio.wait({task}, timeout=GOODBYE_S)
                task.cancel()
                raise

        return shielded

    def _open_for_daphne(self) -> None:
        from twisted.internet import defer
        from twisted.internet import reactor as loop_of_daphne

        reactor: Any = loop_of_daphne  # a module that becomes an object when it is imported

        async def start_or_leave() -> None:
            try:
                await self.start()
            except Exception:
                logger.exception("The engine did not start")
                # Daphne would end with 0, as if it had been asked to.
                reactor.addSystemEventTrigger("after", "shutdown", os._exit, 1)
                reactor.stop()

        def begin() -> None:
            # The loop of the reactor is set, but does not run yet.
            loop = asyncio.get_event_loop()
            self._starting = asyncio.ensure_future(start_or_leave(), loop=loop)

        async def stop() -> None:
            await self.stop()

        def end() -> Any:
            self.closing = True
            return defer.Deferred.fromFuture(asyncio.ensure_future(stop()))

        reactor.callWhenRunning(begin)
        reactor.addSystemEventTrigger("before", "shutdown", end)
