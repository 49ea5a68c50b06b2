"""EventWriter: one bounded FIFO and one thread with its own connection.

What a member said first is first in the log, because everything a process writes while it works
goes through here: `Append` (events; consecutive ones share a commit) and `Call` (an action in a
transaction of its own). A full FIFO makes the speaker wait; the loop's thread never blocks.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction

from . import log
from .conf import Conf
from .events import Draft
from .exceptions import CommitUnknown, LogError, StreamingError

logger = logging.getLogger(__name__)
T = TypeVar("T")

PASSING = (OperationalError, InterfaceError)  # a lock, a restart: worth another try


@dataclass(slots=True)
class Append:
    """Events that one speaker said, in order."""

    stream_id: UUID
    drafts: Sequence[Draft]
    claim: log.Claim | None
    failed: Callable[[Exception], None]
    """Called on the writer's thread, once, where these events could not be written."""


@dataclass(slots=True)
class Call:
    """An action that runs on the writer's thread, in its turn."""

    action: Callable[[], Any]
    claim: log.Claim | None = None
    future: Future[Any] = field(default_factory=Future)


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
    async def append(self, item: Append) -> None:
        """Queue events; wait while the FIFO is full. The commit is not waited for."""
        while self._size >= self.conf.fifo_events:
            loop = asyncio.get_running_loop()
            room: asyncio.Future[None] = loop.create_future()
            self._waiting.append((loop, room))
            self._nudge()
            await room
        self.put(item)

    def put(self, item: Append | Call) -> None:
        """Queue an item at once, whatever the FIFO holds. For what is bounded elsewhere."""
        if self._stopping:
            raise LogError("The writer has stopped.")
        with self._arrived:
            self._items.append(item)
            self._size += len(item.drafts) if isinstance(item, Append) else 1
            if self._idle:  # a notify for each item would cost more than the item
                self._arrived.notify()

    async def call(self, action: Callable[[], T], claim: log.Claim | None = None) -> T:
        """Run an action on the writer's thread, after everything that was queued before it."""
        item = Call(action, claim)
        self.put(item)
        return await asyncio.wrap_future(item.future)

    def call_blocking(self, action: Callable[[], T]) -> T:
        """Do as `call` does, from a thread that is neither the loop's nor the writer's."""
        if self.is_own_thread() or connection.in_atomic_block:
            raise RuntimeError("The FIFO is never waited for on its own thread or inside atomic.")
        item = Call(action)
        self.put(item)
        result: T = item.future.result()
        return result

    def is_own_thread(self) -> bool:
        """Tell whether the caller runs on the writer's thread."""
        return threading.current_thread() is self._thread

    # --- the thread ----------------------------------------------------------------------------
    def _run(self) -> None:
        while (taken := self._take()) is not None:
            if isinstance(taken, Call):
                self._perform(taken)
            else:
                self._write(taken)
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
            if isinstance(self._items[0], Call):
                self._size -= 1
                call = self._items.popleft()
                assert isinstance(call, Call)
                taken: list[Append] | Call = call
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
        while self._waiting and self._size < self.conf.fifo_events:
            loop, room = self._waiting.popleft()
            if not loop.is_closed():
                loop.call_soon_threadsafe(_release, room)

    def _perform(self, call: Call) -> None:
        """Run an action; try again what may pass, unless its commit may have arrived."""
        if not call.future.set_running_or_notify_cancel():
            return
        before = None
        deadline = time.monotonic() + self.conf.retry_s
        pause = 0.05
        while True:
            try:
                if call.claim and before is None:
                    before = log.rows_through(call.claim)
                result = call.action()
            except PASSING as error:
                self._reconnect()
                if time.monotonic() > deadline:
                    call.future.set_exception(LogError(str(error)))
                    return
                if before is not None and call.claim and self._arrived_anyway(call.claim, before):
                    call.future.set_exception(CommitUnknown())
                    return
                logger.warning("action tried again: %s", error)
                time.sleep(pause)
                pause = min(pause * 2, 2.0)
            except BaseException as error:  # the future carries it to whoever asked
                call.future.set_exception(error)
                return
            else:
                call.future.set_result(result)
                return

    def _write(self, items: list[Append]) -> None:
        """Commit appends together; where that cannot pass, find out which of them it is."""
        deadline = time.monotonic() + self.conf.retry_s
        pause = 0.05
        while True:
            counted: dict[log.Claim, int] = {}
            try:
                self._commit(items, counted)
                return
            except PASSING as error:
                self._reconnect()
                if time.monotonic() > deadline:
                    self._fail(items, LogError(str(error)))
                    return
                logger.warning("commit tried again: %s", error)
                time.sleep(pause)
                pause = min(pause * 2, 2.0)
                items = self._missing(items, counted)
            except Exception as error:
                self._reconnect()
                logger.exception("commit failed")
                self._fail(items, LogError(str(error)))
                return

    def _commit(self, items: list[Append], counted: dict[log.Claim, int]) -> None:
        """Write items in one transaction; `counted` says by what to know that it arrived."""
        by_stream: dict[UUID, list[Append]] = {}
        for item in items:
            by_stream.setdefault(item.stream_id, []).append(item)
        refused: list[tuple[Append, Exception]] = []
        with transaction.atomic():
            for stream_id in sorted(by_stream):
                mine = by_stream[stream_id]
                try:
                    with transaction.atomic():
                        counted |= self._save(stream_id, mine)
                except PASSING:
                    raise
                except (DatabaseError, StreamingError):
                    for item in mine:  # one of them cannot be written: find out which
                        refused += self._try_alone(item, counted)
        for item, error in refused:
            item.failed(error)

    def _save(self, stream_id: UUID, items: list[Append]) -> dict[log.Claim, int]:
        """Add the items to one stream; return what their fences have counted then."""
        appender = log.Appender(stream_id, event_bytes=self.conf.event_bytes)
        for item in items:
            appender.add(item.drafts, item.claim)
        appender.save()
        return appender.counted

    def _try_alone(
        self, item: Append, counted: dict[log.Claim, int]
    ) -> list[tuple[Append, Exception]]:
        """Write an item in a savepoint of its own, so that a bad one fails alone."""
        try:
            with transaction.atomic():
                counted |= self._save(item.stream_id, [item])
        except PASSING:
            raise
        except Exception as error:
            return [(item, error)]
        return []

    def _missing(self, items: list[Append], counted: dict[log.Claim, int]) -> list[Append]:
        """Return the items whose events are not in the log after a commit that may have arrived."""
        deadline = time.monotonic() + self.conf.retry_s
        while counted and time.monotonic() < deadline:
            try:
                arrived = {held for held, rows in counted.items() if log.rows_through(held) >= rows}
                return [item for item in items if item.claim not in arrived]
            except PASSING:
                self._reconnect()
                time.sleep(0.2)
        return items

    def _arrived_anyway(self, held: log.Claim, before: int) -> bool:
        try:
            return log.rows_through(held) > before
        except PASSING:
            return False

    def _fail(self, items: list[Append], error: Exception) -> None:
        for item in items:
            item.failed(error)

    def _reconnect(self) -> None:
        """Drop a connection that cannot be used again."""
        connection.close_if_unusable_or_obsolete()
        if connection.connection is not None and not connection.is_usable():
            connection.close()


def _release(room: asyncio.Future[None]) -> None:
    if not room.done():
        room.set_result(None)
