"""EventWriter: one bounded FIFO and one thread with its own connection.

What a member said first is first in the log, because everything a process writes while it works
goes through here: `Append` (events; consecutive ones share a commit) and `Call` (an action in a
transaction of its own). A full FIFO makes the speaker wait; the loop's thread never blocks.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection, transaction

from . import log
from .conf import Conf
from .events import Draft
from .exceptions import CommitUnknown, LogError

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

    action: Callable[[], Any] | None
    """None is a mark in the queue: its future tells that everything before it is done."""
    claim: log.Claim | None = None
    future: Future[Any] = field(default_factory=Future)


class Mark(NamedTuple):
    """The last event of a commit: where it stands, the commit has arrived, and all of it."""

    stream_id: UUID
    seq: int
    text: str


@dataclass(slots=True)
class Try:
    """What came of one try to commit appends together."""

    refused: list[tuple[Append, Exception]] = field(default_factory=list)
    mark: Mark | None = None
    """Set where nothing but the commit itself was left to do."""


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

    def _perform(self, call: Call) -> None:
        """Run an action; try again what may pass, unless its commit may have arrived."""
        if not call.future.set_running_or_notify_cancel():
            return
        if call.action is None:
            call.future.set_result(None)
            return
        before = None
        deadline = time.monotonic() + self.conf.retry_s
        pause = 0.05
        while True:
            result, committing = None, False
            try:
                if call.claim and before is None:
                    before = log.rows_through(call.claim)
                with transaction.atomic():
                    result = call.action()
                    committing = True
            except PASSING as error:
                self._reconnect()
                if committing:
                    arrived = self._counted(call.claim, before, deadline)
                    if arrived is not False:
                        _resolve(call.future, result if arrived else CommitUnknown())
                        return
                if time.monotonic() > deadline:
                    call.future.set_exception(LogError(str(error)))
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
        """Commit appends together; try again what may pass, unless it has arrived."""
        deadline = time.monotonic() + self.conf.retry_s
        pause = 0.05
        while True:
            tried = Try()
            try:
                self._commit(items, tried)
                break
            except PASSING as error:
                self._reconnect()
                arrived = tried.mark and self._committed(tried.mark, deadline)
                if arrived:
                    break
                if tried.mark and arrived is None:
                    tried.refused = [(item, CommitUnknown()) for item in items]
                    break
                if time.monotonic() > deadline:
                    tried.refused = [(item, LogError(str(error))) for item in items]
                    break
                logger.warning("commit tried again: %s", error)
                time.sleep(pause)
                pause = min(pause * 2, 2.0)
            except Exception as error:
                self._reconnect()
                logger.exception("commit failed")
                tried.refused = [(item, LogError(str(error))) for item in items]
                break
        for item, reason in tried.refused:
            _tell(item, reason)

    def _commit(self, items: list[Append], tried: Try) -> None:
        """Write items in one transaction, each stream in a savepoint."""
        by_stream: dict[UUID, list[Append]] = {}
        for item in items:
            by_stream.setdefault(item.stream_id, []).append(item)
        mark = None
        with transaction.atomic():
            for stream_id in sorted(by_stream):
                mine = by_stream[stream_id]
                try:
                    with transaction.atomic():
                        mark = self._save(stream_id, mine)
                except PASSING:
                    raise
                except Exception:
                    for item in mine:  # one of them cannot be written: find out which
                        mark = self._try_alone(item, tried) or mark
            tried.mark = mark

    def _save(self, stream_id: UUID, items: list[Append]) -> Mark:
        """Add the items to one stream; return by what to know that they arrived."""
        appender = log.Appender(stream_id, event_bytes=self.conf.event_bytes)
        for item in items:
            appender.add(item.drafts, item.claim)
        appender.save()
        return Mark(stream_id, appender.head, items[-1].drafts[-1].encode(appender.head))

    def _try_alone(self, item: Append, tried: Try) -> Mark | None:
        """Write an item in a savepoint of its own, so that a bad one fails alone."""
        try:
            with transaction.atomic():
                return self._save(item.stream_id, [item])
        except PASSING:
            raise
        except Exception as error:
            tried.refused.append((item, error))
            return None

    # --- a commit whose answer was lost --------------------------------------------------------
    def _committed(self, mark: Mark, deadline: float) -> bool | None:
        """Tell whether appends were committed; None where nobody can tell in time."""
        return self._look(mark.stream_id, partial(_stands, mark), deadline)

    def _counted(self, claim: log.Claim | None, before: int | None, deadline: float) -> bool | None:
        """Tell by its fence whether an action was committed; None where nobody can tell."""
        if claim is None or before is None:
            return None
        return self._look(claim.stream_id, lambda: log.rows_through(claim) > before, deadline)

    def _look(self, stream_id: UUID, arrived: Callable[[], bool], deadline: float) -> bool | None:
        """Ask under the stream's lock: the lost transaction may still be running without us."""
        while True:
            try:
                with transaction.atomic():
                    log.Appender(stream_id)
                    return arrived()
            except PASSING:
                self._reconnect()
                if time.monotonic() > deadline:
                    return None
                time.sleep(0.2)
            except Exception:
                logger.exception("whether a commit arrived cannot be told")
                return None

    def _reconnect(self) -> None:
        """Drop a connection that cannot be used again."""
        connection.close_if_unusable_or_obsolete()
        if connection.connection is not None and not connection.is_usable():
            connection.close()


def _stands(mark: Mark) -> bool:
    return [record.text for record in log.read_after(mark.stream_id, mark.seq - 1, 1)] == [
        mark.text
    ]


def _tell(item: Append, reason: Exception) -> None:
    """Tell a speaker that its events are not written; whatever it does, the writer goes on."""
    try:
        item.failed(reason)
    except Exception:
        logger.exception("a speaker could not be told that its events are lost")


def _resolve(future: Future[Any], outcome: Any) -> None:
    if isinstance(outcome, CommitUnknown):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


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
