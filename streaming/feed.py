"""Feed: what this process knows of one run that is watched here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol
from uuid import UUID

from . import log
from .conf import Conf
from .events import TERMINAL
from .log import Batch, Head, Record
from .readers import Readers

logger = logging.getLogger(__name__)

READ_EVENTS = 500
READ_CHARS = 256 * 1024

FOLDED_AT_ONCE = 128  # events; folding more would hold the loop up


class State(Protocol):
    """A run folded from its log."""

    @property
    def seq(self) -> int:
        """Return the place in the log up to which it is folded."""


Fold = Callable[[Any, Sequence[str]], State]
"""`fold(state or None, texts of events) -> state`: a new value; the one given is not changed."""


class Feed:
    """The last records of a run, encoded once; where its log stands; its folded state.

    The ring is contiguous and ends at `head`. What reaches it out of order is taken for a bell.
    """

    def __init__(
        self, stream_id: UUID, head: Head, readers: Readers, conf: Conf, fold: Fold
    ) -> None:
        self.stream_id = stream_id
        self.epoch = head.epoch
        self.head = self.rumoured = head.seq
        self.closed = head.closed
        self.watchers = 0
        self._readers = readers
        self._conf = conf
        self._fold = fold
        self._ring: list[Record] = []
        self._ring_after = head.seq
        self._ring_bytes = 0
        self._bells: set[asyncio.Event] = set()
        self._refreshing: asyncio.Task[None] | None = None
        self._state: State | None = None
        self._folding = asyncio.Lock()

    @property
    def cursor(self) -> str:
        """Return the cursor behind the last event known here."""
        return f"{self.epoch}:{self.head}"

    # --- news ----------------------------------------------------------------------------------
    def add(self, batch: Batch) -> None:
        """Take a committed batch; one that does not follow the ring is only a bell."""
        if batch.after == self.head:
            self._extend(batch.records)
        else:
            self.hear(batch.upto)

    def hear(self, head: int) -> None:
        """Take the word that the log reaches `head`, and read what is missing."""
        self.rumoured = max(self.rumoured, head)
        if self.rumoured > self.head and self._refreshing is None:
            self._refreshing = asyncio.create_task(self._refresh())

    async def _refresh(self) -> None:
        try:
            while self.rumoured > self.head:
                records = await self._readers.run(log.read_after, self.stream_id, self.head)
                fresh = [record for record in records if record.seq > self.head]
                if not fresh and not records:
                    self.rumoured = self.head  # it was no more than a rumour
                self._extend(fresh)
        except Exception:
            logger.exception("the log of %s could not be read; the next tick tries again", self)
        finally:
            self._refreshing = None

    def _extend(self, records: Sequence[Record]) -> None:
        if not records:
            return
        self._ring += records
        self._ring_bytes += sum(len(record.text) for record in records)
        self.head = records[-1].seq
        self.closed = self.closed or records[-1].type in TERMINAL
        if len(self._ring) > 2 * self._conf.ring_events or (
            self._ring_bytes > 2 * self._conf.ring_bytes
        ):
            self._trim()
        for bell in self._bells:
            bell.set()

    def _trim(self) -> None:
        """Forget the oldest records, down to half of what made the ring too large."""
        kept, size = len(self._ring), self._ring_bytes
        start = 0
        while kept > self._conf.ring_events or size > self._conf.ring_bytes:
            size -= len(self._ring[start].text)
            start, kept = start + 1, kept - 1
        self._ring_after = self._ring[start - 1].seq
        self._ring = self._ring[start:]
        self._ring_bytes = size

    # --- what followers use --------------------------------------------------------------------
    @contextmanager
    def bell(self) -> Iterator[asyncio.Event]:
        """Give an event that is set whenever there is news."""
        bell = asyncio.Event()
        self._bells.add(bell)
        try:
            yield bell
        finally:
            self._bells.discard(bell)

    async def read(self, after: int) -> list[Record]:
        """Return some of the records after `after`: from the ring, or from the log behind it.

        A follower that is held up keeps what it has read: not much more than `READ_CHARS`.
        """
        if after >= self._ring_after:
            start = after - self._ring_after
            return _some(self._ring[start : start + READ_EVENTS])
        records = await self._readers.run(log.read_after, self.stream_id, after, READ_EVENTS)
        return _some(records)

    async def state(self) -> Any:
        """Return the folded state, at the head of the feed or later."""
        async with self._folding:
            while self._state is None or self._state.seq < self.head:
                seen = self._state.seq if self._state else 0
                if seen >= self._ring_after:
                    texts = [record.text for record in self._ring[seen - self._ring_after :]]
                    if len(texts) <= FOLDED_AT_ONCE:
                        self._state = self._fold(self._state, texts)
                    else:
                        self._state = await self._readers.run(self._fold, self._state, texts)
                else:
                    self._state = await self._readers.run(self._fold_from_log, self._state)
            return self._state

    def _fold_from_log(self, state: State | None) -> State:
        """Fold what the log holds after the state. For a reader's thread."""
        seen = state.seq if state else 0
        texts = [record.text for record in log.read_after(self.stream_id, seen, 100_000)]
        return self._fold(state, texts)

    def __str__(self) -> str:
        return f"{self.stream_id} at {self.cursor}"


def _some(records: list[Record]) -> list[Record]:
    """Return as many of the records as one read may hold, at least one."""
    room = READ_CHARS
    for index, record in enumerate(records):
        room -= len(record.text)
        if room <= 0:
            return records[: index + 1]
    return records
