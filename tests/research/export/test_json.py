"""JSON: the log, event by event, as it is stored."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from django.contrib.auth.models import User

from research.export.base import export
from research.export.json import PAGE, chunks
from research.models import Run
from streaming import log
from streaming import vocabulary as v
from streaming.events import Voice
from streaming.models import Blob, EventRow
from tests.research import recorded

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return recorded.record(User.objects.create_user("ada"))


def read(run: Run) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(export(run.pk, "json").data)
    return made


@pytest.mark.both
def test_every_event_is_there_in_order_exactly_as_it_is_stored(run: Run) -> None:
    stored = [record.text for record in log.read_after(run.pk, 0, 10_000)]
    data = export(run.pk, "json").data.decode()
    at = 0
    for text in stored:
        at = data.index(text, at) + len(text)
    made = json.loads(data)
    assert made["events"] == [json.loads(text) for text in stored]
    assert [event["seq"] for event in made["events"]] == list(range(1, len(stored) + 1))


def test_what_the_run_is_stands_beside_it(run: Run) -> None:
    made = read(run)
    assert made["format"] == "soundings.run/1"
    facts = made["run"]
    assert (facts["id"], facts["topic"]) == (str(run.pk), recorded.TOPIC)
    assert (facts["status"], facts["cursor"]) == ("completed", run.stream.cursor)


@pytest.mark.both
def test_texts_too_long_for_their_events_are_kept_by_their_hash(run: Run) -> None:
    text = "灯塔" * 40_000
    log.append(
        recorded.record(run.user, []).pk,
        recorded.drafts([(Voice(), v.RunStarted(topic="x"))]),
    )
    section = v.ReportSection(section=1, kind="lead", title="In short", text=text)
    long = recorded.record(run.user, [*recorded.opening(), (recorded.WRITER, section)])
    made = read(long)
    assert made["texts"] == {made["events"][-1]["data"]["blob"]["hash"]: text}
    assert Blob.objects.filter(stream=run.stream).count() == len(read(run)["texts"])


def test_a_run_without_events_is_whole_json(run: Run) -> None:
    made = read(recorded.record(run.user, []))
    assert (made["events"], made["texts"]) == ([], {})


def test_a_long_log_is_read_in_pieces_and_never_held_whole(run: Run) -> None:
    size, length = 40 * PAGE, 1000
    text = json.dumps({"seq": 0, "text": "x" * length})
    rows = [
        EventRow(stream=run.stream, seq=run.stream.head + n, type="x", text=text)
        for n in range(1, size + 1)
    ]
    EventRow.objects.bulk_create(rows, batch_size=5000)
    del rows
    run.stream.head += size
    run.stream.save()
    tracemalloc.start()
    total = sum(map(len, chunks(run)))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total > size * length
    assert most < total / 5


def test_what_is_said_meanwhile_is_not_half_in_it(run: Run) -> None:
    young = recorded.record(run.user, recorded.whole()[:40])
    pieces = chunks(young)
    begun = next(pieces)
    log.append(young.pk, recorded.drafts(recorded.whole()[40:]))
    made = json.loads(begun + b"".join(pieces))
    assert len(made["events"]) == 40
    assert made["run"]["cursor"].endswith(":40")
