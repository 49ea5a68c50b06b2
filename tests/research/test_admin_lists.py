"""The admin's lists stay fast, however many rows there are, and harmless, whatever they hold."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from lxml import html as lxml_html

from research import models
from research.admin import counting
from research.models import Run
from streaming import log
from streaming import vocabulary as v
from streaming.events import Voice, draft
from streaming.models import EventRow
from tests.research import hostile, recorded
from tests.research.admin_rows import KINDS, list_of, more_rows, page_of, with_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def run() -> Run:
    return with_rows(recorded.record(User.objects.create_user("ada")))


def queries_of(staff: Client, address: str, **given: str) -> list[str]:
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert staff.get(address, given).status_code == 200
    return [query["sql"] for query in asked.captured_queries]


# --- how often the database is asked -------------------------------------------------------------
def test_a_list_asks_as_often_for_fifty_rows_as_for_one(staff: Client, run: Run) -> None:
    few = {model: len(queries_of(staff, list_of(model))) for model in KINDS}
    more_rows(run, 50)
    for model in KINDS:
        many = len(queries_of(staff, list_of(model)))
        assert many == few[model] <= 15, model
        assert len(queries_of(staff, list_of(model), q="t")) <= 16, model


def test_a_page_asks_as_often_for_fifty_rows_inside_it_as_for_one(staff: Client, run: Run) -> None:
    source, task = run.sources.all()[0], run.tasks.get()
    pages = [page_of(row) for row in (run, source, task, run.stream)]
    few = [len(queries_of(staff, page)) for page in pages]
    said = {"member": "m", "work": "w", "attempt": 1}
    for number in range(50, 100):
        models.Work.objects.create(run=run, name=f"task:{number}", member="m")
        models.Task.objects.create(run=run, task_id=number, step=1, title="t", query="q")
        models.Member.objects.create(run=run, name=f"m{number}", role="teammate")
        models.ToolCall.objects.create(
            run=run, tool_call_id=f"{number}", task=task, tool="t", **said
        )
        models.Note.objects.create(
            run=run, note_id=number, task=task, title="t", content="c", **said
        )
        models.Citation.objects.create(run=run, number=number, section=1, source=source)
    assert [len(queries_of(staff, page)) for page in pages] == few


@pytest.mark.parametrize(
    ("model", "columns"),
    [
        (models.ToolCall, ["result"]),
        (models.Note, ["content"]),
        (models.Work, ["input", "output", "talk"]),
        (models.Archive, ["text"]),
        (models.Document, ["outline"]),
        (models.ApiToken, ["hash"]),
        (models.Run, ["options"]),
    ],
)
def test_a_list_leaves_long_texts_and_secrets_where_they_are(
    staff: Client, run: Run, model: Any, columns: list[str]
) -> None:
    table = model._meta.db_table
    for sql in queries_of(staff, list_of(model)):
        for column in columns:
            assert f'"{table}"."{column}"' not in sql, sql


@pytest.mark.both
def test_a_list_counts_no_further_than_it_can_be_turned_over(
    staff: Client, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [sql for sql in queries_of(staff, list_of(EventRow)) if "COUNT(" in sql]
    assert asked and all("LIMIT 10001" in sql for sql in asked)
    assert "more than" not in staff.get(list_of(EventRow)).content.decode()
    monkeypatch.setattr(counting, "COUNTED", 30)
    response = staff.get(list_of(EventRow))
    assert response.context["cl"].result_count == 30
    assert "more than 30 events" in response.content.decode()


# --- finding -------------------------------------------------------------------------------------
def events(staff: Client, **given: str) -> set[str]:
    response = staff.get(list_of(EventRow), given)
    return {event.type for event in response.context["cl"].result_list}


@pytest.mark.both
def test_events_are_found_by_run_by_type_and_by_words(staff: Client, run: Run) -> None:
    other = recorded.record(run.user, [(Voice(), v.RunStarted(topic="潮汐 of a harbour"))])
    assert events(staff, q=str(other.pk)) == {"run.started"}
    assert events(staff, q="report.section") == {"report.section"}
    assert events(staff, q="潮汐 HARBOUR") == {"run.started"}
    assert events(staff, q="潮汐", stream__id__exact=str(run.pk)) == set()
    assert events(staff, kind="report", stream__id__exact=str(run.pk)) == {
        "report.section",
    }
    assert events(staff, kind="citation") == {"citation.checked"}
    assert "run.started" not in events(
        staff, source_member="verifier", stream__id__exact=str(run.pk)
    )


def test_words_are_looked_for_in_the_newest_events_unless_a_run_is_chosen(
    staff: Client, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("research.admin.stream.SEARCHED", 5)
    log.append(
        recorded.record(run.user, []).pk,
        [draft(Voice(), v.Status(message=f"line {n}")) for n in range(5)],
    )
    assert events(staff, q="on_commit") == set()
    assert events(staff, q="on_commit", stream__id__exact=str(run.pk))
    assert events(staff, q="line") == {"status"}


def test_members_and_lanes_are_offered_for_a_run_and_not_for_all(staff: Client, run: Run) -> None:
    page = staff.get(list_of(EventRow)).content.decode()
    assert "source_member=" not in page
    page = staff.get(list_of(EventRow), {"stream__id__exact": str(run.pk)}).content.decode()
    assert "source_member=verifier" in page and "stream_token=task_2" in page
    assert staff.get(list_of(EventRow), {"stream__id__exact": "x"}).status_code == 302


# --- what strangers wrote ------------------------------------------------------------------------
ACTIVE = re.compile(r"\s*(?:javascript|vbscript|data):", re.IGNORECASE)


def assert_inert(page: str) -> None:
    """Fail if anything of the attacks has become more than text in a page of Django's."""
    root = lxml_html.document_fromstring(page)
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        assert element.tag not in ("iframe", "base", "object", "embed", "math", "style"), (
            element.tag
        )
        for name, value in element.attrib.items():
            assert not name.startswith("on") and name not in ("style", "srcdoc"), (name, value)
            if name in ("href", "src", "action", "formaction"):
                assert not ACTIVE.match(value) and not value.startswith("//"), value
        if element.tag == "script":
            assert element.get("src") or element.get("type") == "application/json"
        if element.tag in ("img", "link", "form", "script"):
            address = element.get("src") or element.get("href") or element.get("action") or ""
            assert "evil.test" not in address
        if element.tag in ("input", "a"):
            assert element.get("id") != "csrfmiddlewaretoken"


def test_hostile_words_stay_words_in_every_list_and_on_every_page(staff: Client) -> None:
    eve = User.objects.create_user("eve")
    User.objects.filter(pk=eve.pk).update(username=hostile.EVIL[:150])
    eve.refresh_from_db()
    run = with_rows(recorded.record(eve, hostile.events()), hostile.EVIL[:300])
    Run.objects.filter(pk=run.pk).update(
        topic=hostile.EVIL,
        error_message=hostile.EVIL,
        error_code=hostile.EVIL[:40],
        status="failed",
        options={hostile.EVIL: hostile.EVIL},
    )
    for model in KINDS:
        told = False
        for address in (list_of(model), *(page_of(row) for row in model.objects.all()[:3])):
            page = staff.get(address).content.decode()
            assert_inert(page)
            told |= "&lt;script&gt;alert" in page
        assert told, model
        assert_inert(staff.get(list_of(model), {"q": hostile.EVIL}).content.decode())
    for event in EventRow.objects.all():
        assert_inert(staff.get(page_of(event)).content.decode())
    asked = {"action": "cancel", "_selected_action": [str(run.pk)]}
    assert_inert(staff.post(list_of(Run), asked, follow=True).content.decode())
    assert_inert(staff.get(reverse("admin:index")).content.decode())
