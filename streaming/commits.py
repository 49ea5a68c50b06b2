"""Commits: what the writer's thread does with what its queue hands it.

Appends share a transaction, each stream in a savepoint of its own, and a bad one fails alone; a
call has a transaction to itself. What may pass is tried again. Where the answer of a commit was
lost, the log is asked whether it arrived: an event is never written twice.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection, transaction

from . import log
from .conf import Conf
from .events import Draft
from .exceptions import CommitUnknown, LogError

logger = logging.getLogger(__name__)

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


def perform(call: Call, conf: Conf) -> None:
    """Run an action; try again what may pass, unless its commit may have arrived."""
    if not call.future.set_running_or_notify_cancel():
        return
    if call.action is None:
        call.future.set_result(None)
        return
    before = None
    deadline = time.monotonic() + conf.retry_s
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
            _reconnect()
            if committing:
                arrived = _counted(call.claim, before, deadline)
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


def write(items: list[Append], conf: Conf) -> None:
    """Commit appends together; try again what may pass, unless it has arrived."""
    deadline = time.monotonic() + conf.retry_s
    pause = 0.05
    while True:
        tried = Try()
        try:
            _commit(items, tried, conf)
            break
        except PASSING as error:
            _reconnect()
            arrived = tried.mark and _committed(tried.mark, deadline)
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
            _reconnect()
            logger.exception("commit failed")
            tried.refused = [(item, LogError(str(error))) for item in items]
            break
    for item, reason in tried.refused:
        _tell(item, reason)


def _commit(items: list[Append], tried: Try, conf: Conf) -> None:
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
                    mark = _save(stream_id, mine, conf)
            except PASSING:
                raise
            except Exception:
                for item in mine:  # one of them cannot be written: find out which
                    mark = _try_alone(item, tried, conf) or mark
        tried.mark = mark


def _save(stream_id: UUID, items: list[Append], conf: Conf) -> Mark:
    """Add the items to one stream; return by what to know that they arrived."""
    appender = log.Appender(stream_id, event_bytes=conf.event_bytes)
    for item in items:
        appender.add(item.drafts, item.claim)
    appender.save()
    return Mark(stream_id, appender.head, items[-1].drafts[-1].encode(appender.head))


def _try_alone(item: Append, tried: Try, conf: Conf) -> Mark | None:
    """Write an item in a savepoint of its own, so that a bad one fails alone."""
    try:
        with transaction.atomic():
            return _save(item.stream_id, [item], conf)
    except PASSING:
        raise
    except Exception as error:
        tried.refused.append((item, error))
        return None


# --- a commit whose answer was lost --------------------------------------------------------
def _committed(mark: Mark, deadline: float) -> bool | None:
    """Tell whether appends were committed; None where nobody can tell in time."""
    return _look(mark.stream_id, partial(_stands, mark), deadline)


def _counted(claim: log.Claim | None, before: int | None, deadline: float) -> bool | None:
    """Tell by its fence whether an action was committed; None where nobody can tell."""
    if claim is None or before is None:
        return None
    return _look(claim.stream_id, lambda: log.rows_through(claim) > before, deadline)


def _look(stream_id: UUID, arrived: Callable[[], bool], deadline: float) -> bool | None:
    """Ask under the stream's lock: the lost transaction may still be running without us."""
    while True:
        try:
            with transaction.atomic():
                log.Appender(stream_id)
                return arrived()
        except PASSING:
            _reconnect()
            if time.monotonic() > deadline:
                return None
            time.sleep(0.2)
        except Exception:
            logger.exception("whether a commit arrived cannot be told")
            return None


def _reconnect() -> None:
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
