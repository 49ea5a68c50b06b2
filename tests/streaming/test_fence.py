"""A worker that lost its lease writes nothing, and a fence counts what came through it."""

from __future__ import annotations

import pytest
from django.db import transaction

from streaming import log
from streaming.exceptions import Fenced
from streaming.models import Fence

from .logs import assert_contiguous, new_stream, stored, word, words

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both]


def test_who_claims_a_work_last_is_the_only_one_who_may_write_for_it() -> None:
    stream_id = new_stream()
    old = log.claim(stream_id, "task:1")
    log.append(stream_id, [word("old")], old)
    new = log.claim(stream_id, "task:1")
    with pytest.raises(Fenced):
        log.append(stream_id, [word("late")], old)
    log.append(stream_id, [word("new")], new)
    assert words(stored(stream_id)) == ["old", "new"]
    assert_contiguous(stream_id)


def test_a_claim_says_nothing_about_other_works_and_other_runs() -> None:
    first, second = new_stream(), new_stream()
    held = log.claim(first, "task:1")
    log.claim(first, "task:2")
    log.claim(second, "task:1")
    log.append(first, [word("mine")], held)
    assert words(stored(first)) == ["mine"]


def test_an_early_look_at_the_fence_tells_the_same() -> None:
    stream_id = new_stream()
    old = log.claim(stream_id, "task:1")
    with transaction.atomic():
        log.Appender(stream_id).check(old)
    log.claim(stream_id, "task:1")
    with pytest.raises(Fenced), transaction.atomic():
        log.Appender(stream_id).check(old)


def test_a_fence_counts_the_events_that_came_through_it_and_no_others() -> None:
    stream_id = new_stream()
    held = log.claim(stream_id, "task:1")
    assert log.rows_through(held) == 0
    with transaction.atomic():
        appender = log.Appender(stream_id)
        appender.add([word("a"), word("b")], held)
        appender.add([word("nobody's")])
        appender.add([word("c")], held)
        appender.save()
    assert appender.counted == {held: 3}
    assert log.rows_through(held) == 3
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        log.append(stream_id, [word("undone")], held)
        raise ZeroDivisionError
    assert log.rows_through(held) == 3


def test_a_claim_of_a_work_that_was_never_claimed_is_refused() -> None:
    stream_id = new_stream()
    with pytest.raises(Fenced):
        log.append(stream_id, [word("x")], log.Claim(stream_id, "task:9", 0))
    assert not Fence.objects.exists()
    assert not stored(stream_id)
