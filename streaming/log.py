"""The log: the only code that gives out `seq`.

Every function here works inside the caller's transaction and under the stream's row lock; what it
wrote is announced (`committed`) after the commit and never before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F
from django.dispatch import Signal

from .events import TERMINAL, Draft, Long
from .exceptions import EventTooLarge, Fenced, NotFound, StreamClosed
from .models import Blob, EventRow, Fence, Stream

committed = Signal()
"""Sent after a commit, with `batch`, on the thread that committed: receivers only wake things."""


class Record(NamedTuple):
    """An event as followers need it: its place, what filters look at, and its text."""

    seq: int
    type: str
    stream_token: str
    source_member: str
    text: str


@dataclass(frozen=True, slots=True)
class Batch:
    """What one commit added to one stream: the records in (after, upto]."""

    stream_id: UUID
    epoch: str
    after: int
    records: tuple[Record, ...]

    @property
    def upto(self) -> int:
        """Return the `seq` of its last record."""
        return self.after + len(self.records)


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to write for a piece of work, until somebody claims it after."""

    stream_id: UUID
    name: str
    token: int


class Head(NamedTuple):
    """Where a stream stands."""

    epoch: str
    seq: int
    closed: bool

    @property
    def cursor(self) -> str:
        """Return the cursor behind its last event."""
        return f"{self.epoch}:{self.seq}"


class Appender:
    """A stream, locked in the running transaction, that takes events and saves them at once."""

    def __init__(self, stream_id: UUID, *, event_bytes: int = 65_536) -> None:
        self.stream = lock(stream_id)
        self.event_bytes = event_bytes
        self._after = self.stream.head
        self._records: list[Record] = []
        self._rows: list[tuple[Any, ...]] = []
        self._blobs: dict[str, Long] = {}
        self._tokens: dict[str, int] = {}
        self._through: dict[str, int] = defaultdict(int)
        self._stream_key = Stream._meta.pk.get_db_prep_value(stream_id, connection)

    def add(self, drafts: Sequence[Draft], claim: Claim | None = None) -> None:
        """Give each event its `seq`; raise `StreamClosed`, `Fenced` or `EventTooLarge` and add none."""
        if claim:
            self.check(claim)
        seq, rows, records, closed = self.stream.head, [], [], self.stream.closed
        for item in drafts:
            if closed:
                raise StreamClosed
            seq += 1
            text = item.encode(seq)
            if len(text) * 4 > self.event_bytes and len(text.encode()) > self.event_bytes:
                raise EventTooLarge(f"An event of type {item.type} is too large.")
            voice = item.voice
            token, member = voice.stream_token or "", voice.source_member or ""
            records.append(Record(seq, item.type, token, member, text))
            rows.append(
                (
                    self._stream_key,
                    seq,
                    item.type,
                    token,
                    member,
                    voice.work or "",
                    voice.attempt or 0,
                    text,
                )
            )
            closed = item.type in TERMINAL
        for item in drafts:
            if item.blob:
                self._blobs[item.blob.hash] = item.blob
        self._rows += rows
        self._records += records
        self.stream.head, self.stream.closed = seq, closed
        if claim:
            self._through[claim.name] += len(rows)

    def check(self, claim: Claim) -> None:
        """Raise `Fenced` where somebody has claimed the work since."""
        if claim.name not in self._tokens:
            found = Fence.objects.filter(stream=self.stream, name=claim.name)
            self._tokens[claim.name] = found.values_list("token", flat=True).first() or 0
        if self._tokens[claim.name] != claim.token:
            raise Fenced(f"{claim.name} was taken over.")

    def save(self) -> None:
        """Insert what was added, move the head, and announce it after the commit."""
        if not self._rows:
            return
        with connection.cursor() as cursor:
            cursor.executemany(INSERT_EVENT, self._rows)
        if self._blobs:
            Blob.objects.bulk_create(
                [Blob(stream=self.stream, hash=b.hash, text=b.text) for b in self._blobs.values()],
                ignore_conflicts=True,
            )
        Stream.objects.filter(pk=self.stream.pk).update(
            head=self.stream.head, closed=self.stream.closed
        )
        for name, count in self._through.items():
            Fence.objects.filter(stream=self.stream, name=name).update(rows=F("rows") + count)
        batch = Batch(self.stream.pk, self.stream.epoch, self._after, tuple(self._records))
        transaction.on_commit(partial(announce, batch), robust=True)
        self._after, self._rows, self._records = self.stream.head, [], []
        self._blobs, self._through = {}, defaultdict(int)


INSERT_EVENT = (
    f"INSERT INTO {EventRow._meta.db_table} "
    "(stream_id, seq, type, stream_token, source_member, work, attempt, text) "
    "VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
)


def announce(batch: Batch) -> None:
    """Tell this process that a batch is committed."""
    committed.send_robust(sender=None, batch=batch)


def lock(stream_id: UUID) -> Stream:
    """Return the stream, its row locked until the transaction ends."""
    try:
        return Stream.objects.select_for_update().get(pk=stream_id)
    except Stream.DoesNotExist:
        raise NotFound from None


def append(stream_id: UUID, drafts: Sequence[Draft], claim: Claim | None = None) -> None:
    """Append events to a stream in a transaction of the caller's or of its own."""
    with transaction.atomic():
        appender = Appender(stream_id)
        appender.add(drafts, claim)
        appender.save()


def claim(stream_id: UUID, name: str) -> Claim:
    """Raise the fence of a piece of work; whoever held it before can write no more.

    Call it under the stream's lock.
    """
    fence, _ = Fence.objects.get_or_create(stream_id=stream_id, name=name)
    fence.token += 1
    fence.save(update_fields=["token"])
    return Claim(stream_id, name, fence.token)


def rows_through(held: Claim) -> int:
    """Return how many events came through a fence: what a lost commit is checked against."""
    found = Fence.objects.filter(stream_id=held.stream_id, name=held.name)
    return found.values_list("rows", flat=True).first() or 0


def read_after(stream_id: UUID, seq: int, limit: int = 500) -> list[Record]:
    """Return the records after `seq`, at most `limit`."""
    rows = EventRow.objects.filter(stream_id=stream_id, seq__gt=seq).order_by("seq")
    return [Record(*row) for row in rows.values_list(*Record._fields)[:limit]]


def read_work(stream_id: UUID, work: str, attempt: int) -> list[str]:
    """Return the texts of the events of one attempt at a piece of work."""
    rows = EventRow.objects.filter(stream_id=stream_id, work=work, attempt=attempt)
    return list(rows.order_by("seq").values_list("text", flat=True))


def head(stream_id: UUID) -> Head:
    """Return where a stream stands; `NotFound` where there is none."""
    row = Stream.objects.filter(pk=stream_id).values_list("epoch", "head", "closed").first()
    if row is None:
        raise NotFound
    return Head(*row)


def heads(stream_ids: Sequence[UUID]) -> dict[UUID, Head]:
    """Return where streams stand, in one query."""
    rows = Stream.objects.filter(pk__in=stream_ids).values_list("pk", "epoch", "head", "closed")
    return {pk: Head(*rest) for pk, *rest in rows}


def blob(stream_id: UUID, hash: str) -> str:
    """Return a long text of a stream; `NotFound` where there is none."""
    text = (
        Blob.objects.filter(stream_id=stream_id, hash=hash).values_list("text", flat=True).first()
    )
    if text is None:
        raise NotFound
    return text
