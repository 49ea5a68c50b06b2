"""`seq` is 1..head, contiguous and unique, whoever writes and whatever is rolled back."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection, transaction

from streaming import log
from streaming import vocabulary as v
from streaming.events import TERMINAL, Data, Voice, draft
from streaming.exceptions import EventTooLarge, NotFound, StreamClosed
from streaming.models import EventRow, Stream

from .logs import assert_contiguous, close, new_stream, stored, word, words, write

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both]
TERMINALS: list[Data] = [
    v.RunCompleted(),
    v.RunFailed(code="x", message="y"),
    v.RunCancelled(),
]


def write_some(stream_id: UUID, name: str, kept: list[str], start: threading.Barrier) -> None:
    """Append forty times, undo every third of them, and note what must be there."""
    chance = random.Random(name)
    start.wait(10)
    try:
        for number in range(40):
            texts = [f"{name}.{number}.{i}" for i in range(chance.randint(1, 4))]
            while True:
                try:
                    with transaction.atomic():
                        log.append(stream_id, [word(text) for text in texts])
                        if undone := chance.random() < 0.33:
                            transaction.set_rollback(True)
                    break
                except OperationalError:  # SQLite: busy for longer than it waits
                    time.sleep(0.01)
            if not undone:
                kept += texts
    finally:
        connection.close()


def test_eight_writers_leave_no_hole_and_no_double_whatever_they_roll_back() -> None:
    stream_id = new_stream()
    kept: list[list[str]] = [[] for _ in range(8)]
    start = threading.Barrier(8)
    threads = [
        threading.Thread(target=write_some, args=(stream_id, f"w{i}", kept[i], start))
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert_contiguous(stream_id)
    found = words(stored(stream_id))
    for i, mine in enumerate(kept):  # each writer's own words, all of them, in its order
        assert [text for text in found if text.startswith(f"w{i}.")] == mine
    assert len(found) == sum(map(len, kept))


def test_an_action_that_is_rolled_back_leaves_no_event_and_no_hole() -> None:
    stream_id = new_stream()
    write(stream_id, "a")
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        write(stream_id, "b", "c")
        raise ZeroDivisionError
    write(stream_id, "d")
    assert words(stored(stream_id)) == ["a", "d"]
    assert log.head(stream_id).seq == 2
    assert_contiguous(stream_id)


@pytest.fixture
def heard() -> Iterator[list[log.Batch]]:
    """What is announced, in the order in which it is."""
    batches: list[log.Batch] = []

    def hear(batch: log.Batch, **kwargs: object) -> None:
        assert not connection.in_atomic_block, "announced before the commit"
        batches.append(batch)

    log.committed.connect(hear)
    yield batches
    log.committed.disconnect(hear)


def test_what_is_rolled_back_is_not_announced_and_what_is_committed_is_announced_once(
    heard: list[log.Batch],
) -> None:
    stream_id = new_stream()
    with transaction.atomic():
        write(stream_id, "a")
        transaction.set_rollback(True)
    with transaction.atomic():
        write(stream_id, "b")
        assert not heard
        with pytest.raises(ZeroDivisionError), transaction.atomic():  # only a savepoint
            write(stream_id, "c")
            raise ZeroDivisionError
        write(stream_id, "d")
    assert [(batch.after, batch.upto) for batch in heard] == [(0, 1), (1, 2)]
    assert [record.text for batch in heard for record in batch.records] == [
        record.text for record in log.read_after(stream_id, 0)
    ]


def test_an_appender_that_saves_twice_goes_on_where_it_was(heard: list[log.Batch]) -> None:
    stream_id = new_stream()
    with transaction.atomic():
        appender = log.Appender(stream_id)
        appender.add([word("a"), word("b")])
        appender.save()
        appender.save()
        appender.add([word("c")])
        appender.save()
        assert appender.cursor == f"{appender.epoch}:3"
    assert words(stored(stream_id)) == ["a", "b", "c"]
    assert Stream.objects.get().cursor == appender.cursor
    assert [(batch.after, batch.upto) for batch in heard] == [(0, 2), (2, 3)]


def test_a_stream_that_is_not_there_takes_nothing() -> None:
    with pytest.raises(NotFound):
        write(uuid4(), "a")
    assert not EventRow.objects.exists()


# --- the terminal event ------------------------------------------------------------------------
@pytest.mark.parametrize("terminal", TERMINALS, ids=lambda data: str(data.type))
def test_nothing_can_be_appended_after_a_terminal_event(terminal: Data) -> None:
    stream_id = new_stream()
    write(stream_id, "a")
    log.append(stream_id, [word("b"), draft(Voice(), terminal)])
    assert log.head(stream_id).closed
    for late in (word("c"), draft(Voice(), v.RunCompleted())):
        with pytest.raises(StreamClosed):
            log.append(stream_id, [late])
    events = stored(stream_id)
    assert [event["type"] for event in events] == ["status", "status", terminal.type]
    assert_contiguous(stream_id)


def test_nothing_can_follow_a_terminal_event_in_the_same_breath() -> None:
    stream_id = new_stream()
    with pytest.raises(StreamClosed):
        log.append(stream_id, [draft(Voice(), v.RunCompleted()), word("late")])
    assert not stored(stream_id)
    assert not log.head(stream_id).closed
    close(stream_id)
    assert [event["type"] for event in stored(stream_id)] == ["run.completed"]


def test_the_terminal_types_are_three() -> None:
    assert {data.type for data in TERMINALS} == set(TERMINAL)


def test_of_many_who_end_a_run_one_does() -> None:
    stream_id = new_stream()
    refused: list[Exception] = []
    start = threading.Barrier(6)

    def end() -> None:
        start.wait(10)
        try:
            close(stream_id)
        except StreamClosed as error:
            refused.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=end) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(refused) == 5
    assert [event["type"] for event in stored(stream_id)] == ["run.completed"]


# --- what does not fit -------------------------------------------------------------------------
def test_an_event_too_large_leaves_no_hole_and_takes_its_neighbours_with_it() -> None:
    stream_id = new_stream()
    large = draft(Voice(), v.Status(message="x" * 70_000), limit=200_000)
    with pytest.raises(EventTooLarge):
        log.append(stream_id, [word("a"), large])
    chinese = draft(Voice(), v.Status(message="字" * 22_000), limit=200_000)
    with pytest.raises(EventTooLarge):  # 66,000 bytes in 22,000 characters
        log.append(stream_id, [chinese])
    write(stream_id, "b")
    assert words(stored(stream_id)) == ["b"]
    assert_contiguous(stream_id)
