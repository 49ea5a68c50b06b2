"""Calls from the outside: pick a keeper that is free, ask it, and make sense of the answer."""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
from contextlib import suppress
from functools import cache
from importlib import import_module
from queue import Empty, LifoQueue
from typing import Any

import msgspec

from .keeper import Keeper, Lost
from .limits import Limits, SandboxError
from .wire import Answer, Request

logger = logging.getLogger(__name__)

AT_ONCE = 2
WAIT_S = 120.0
TOLD = frozenset({"research.library.unreadable:Unreadable"})
"""The exceptions that come back as themselves: their arguments are plain strings."""
DEFAULT = Limits()


class _Pool:
    """Keepers that are not busy. They start when they are needed first."""

    def __init__(self, size: int) -> None:
        self._free: LifoQueue[Keeper | None] = LifoQueue()
        for _ in range(size):
            self._free.put(None)

    def ask(self, request: Request) -> Answer:
        try:
            keeper = self._free.get(timeout=WAIT_S)
        except Empty:
            raise SandboxError("too_slow", "No process was free.") from None
        kept: Keeper | None = None
        try:
            if keeper is None or not keeper.alive:
                keeper = Keeper()
            answer = keeper.ask(request)
            kept = keeper
            return answer
        except Lost as error:
            raise SandboxError(error.code, str(error)) from None
        finally:
            if kept is None and keeper is not None:
                keeper.kill()  # it may be in the middle of anything
            self._free.put(kept)

    def close(self) -> None:
        """End the keepers that are free; whoever asks after this starts one anew."""
        found: list[Keeper | None] = []
        with suppress(Empty):
            while True:
                found.append(self._free.get_nowait())
        for keeper in found:
            if keeper is not None:
                keeper.kill()
            self._free.put(None)


@cache
def _pool() -> _Pool:
    pool = _Pool(AT_ONCE)
    atexit.register(pool.close)
    return pool


def call(target: str, *args: Any, limits: Limits = DEFAULT, returns: Any) -> Any:
    """Call `module:function` in a process of its own and return its result as `returns`. Blocking.

    The arguments are converted to the types that the function declares. Raises `SandboxError`, and
    the exceptions in `TOLD` as themselves.
    """
    packed = msgspec.Raw(msgspec.msgpack.encode(args))
    answer = _pool().ask(Request(target, packed, limits))
    if answer.kind == "value":
        try:
            return msgspec.msgpack.decode(answer.value, type=returns)
        except msgspec.DecodeError as error:
            raise SandboxError("broken", f"{target}: {error}") from None
    if answer.kind == "raised" and answer.name in TOLD:
        module, _, name = answer.name.partition(":")
        raise getattr(import_module(module), name)(*answer.args)
    if answer.code == "broken":
        logger.warning("%s broke in the sandbox: %s", target, answer.detail)
    raise SandboxError(answer.code)


async def acall(target: str, *args: Any, limits: Limits = DEFAULT, returns: Any) -> Any:
    """Call `module:function` as `call` does, from a coroutine."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():  # who asked went away
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def work() -> None:
        result, failed = None, None
        try:
            result = call(target, *args, limits=limits, returns=returns)
        except Exception as error:
            failed = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, failed)

    # Not of a pool, whose threads a process would wait for before it ends.
    threading.Thread(target=work, name="sandbox-call", daemon=True).start()
    return await future
