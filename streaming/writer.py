"""EventWriter: one bounded FIFO and one thread with its own connection.

What a member said first is first in the log, because everything a process writes while it works
goes through here: `Append` (events; consecutive ones share a commit) and `Call` (an action in a
transaction of its own). A full FIFO makes the speaker wait; the loop's thread never blocks.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from django.db import connection

from . import log
from .commits import Append, Call, perform, write
from .conf import Conf
from .exceptions import LogError

T = TypeVar("T")


class EventWriter:
    """The one door to the log of a process that works."""

    def __init__(self, conf: Conf) -> None:
        self.conf = conf
        self._items: deque[Append | Call] = deque()
        self._size = 0
        self._arrived = threading.Condition()
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()
        self._stopping = False
        self._idle = False
        self._thread: threading.Thread | None = None

    # --- its life ------------------------------------------------------------------------------
    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="event-writer", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def stop(self, timeout: float = 5.0) -> None:
        """Write what is queued, for at most `timeout` seconds, and end the thread."""
        atexit.unregister(self.stop)
        with self._arrived:
            self._stopping = True
            self._arrived.notify()
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    # --- what speakers use ---------------------------------------------------------------------
    def is_full(self) -> bool:
        """Tell whether speakers have to wait."""
        return self._size >= self.conf.fifo_events

    async def room(self) -> None:
        """Wait while the FIFO is full. Who has queued first and waits then keeps its place."""
        while self.is_full():
            loop = asyncio.get_running_loop()
            room: asyncio.Future[None] = loop.create_future()
            self._waiting.append((loop, room))
            self._nudge()
            await room

    def put(self, item: Append | Call) -> None:
        """Queue an item at once, whatever the FIFO holds. A speaker waits for `room` after it."""
        with self._arrived:
            if self._stopping:
                raise LogError("The writer has stopped.")
            self._items.append(item)
            self._size += len(item.drafts) if isinstance(item, Append) else 1
            if self._idle:  # a notify for each item would cost more than the item
                self._arrived.notify()

    async def call(self, action: Callable[[], T], claim: log.Claim | None = None) -> T:
        """Run an action on the writer's thread, after everything that was queued before it.

        It runs in a transaction, and again where that fails in a way that may pass. Raises
        `CommitUnknown` where nobody can tell whether it was committed.
        """
        item = Call(action, claim)
        self.put(item)
        return await asyncio.wrap_future(item.future)

    def call_blocking(self, action: Callable[[], T]) -> T:
        """Do as `call` does, from a thread that is neither the loop's nor the writer's."""
        if self.is_own_thread() or connection.in_atomic_block or _in_a_loop():
            raise RuntimeError(
                "The FIFO is never waited for on its own thread, on a loop's, or inside atomic."
            )
        item = Call(action)
        self.put(item)
        result: T = item.future.result()
        return result

    async def drained(self) -> None:
        """Wait until everything that was queued before is committed, or refused."""
        item = Call(None)
        self.put(item)
        await asyncio.wrap_future(item.future)

    def is_own_thread(self) -> bool:
        """Tell whether the caller runs on the writer's thread."""
        return threading.current_thread() is self._thread

    # --- the thread ----------------------------------------------------------------------------
    def _run(self) -> None:
        while (taken := self._take()) is not None:
            if isinstance(taken, Call):
                perform(taken, self.conf)
            else:
                write(taken, self.conf)
        connection.close()

    def _take(self) -> list[Append] | Call | None:
        """Return the next call, or the appends that share the next commit; None at the end."""
        with self._arrived:
            while not self._items:
                if self._stopping:
                    return None
                self._idle = True
                self._arrived.wait()
                self._idle = False
            taken: list[Append] | Call
            first = self._items[0]
            if isinstance(first, Call):
                taken = first
                self._items.popleft()
                self._size -= 1
            else:
                taken, rows = [], 0
                while self._items and rows < self.conf.commit_events:
                    item = self._items[0]
                    if isinstance(item, Call):
                        break
                    taken.append(item)
                    rows += len(item.drafts)
                    self._items.popleft()
                self._size -= rows
        self._nudge()
        return taken

    def _nudge(self) -> None:
        """Wake the speakers that wait for room."""
        while not self.is_full():
            try:  # speakers and the writer's thread take from it at the same time
                loop, room = self._waiting.popleft()
            except IndexError:
                return
            with contextlib.suppress(RuntimeError):  # its loop is closed
                loop.call_soon_threadsafe(_release, room)


def _in_a_loop() -> bool:
    """Tell whether the caller runs on the thread of a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _release(room: asyncio.Future[None]) -> None:
    if not room.done():
        room.set_result(None)
