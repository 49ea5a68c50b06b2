"""The pages, as a person without JavaScript has them."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver, reverse

from research.fold import fold
from research.models import Archive, Collection, Member, Run, Source, Task
from research.views import states
from streaming import log
from streaming import vocabulary as v
from streaming.events import Voice
from streaming.models import Blob, EventRow, Stream
from tests.research import hostile, recorded

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password="a-long-password")


@pytest.fixture
def page(ada: User, client: Client) -> Client:
    client.force_login(ada)
    return client


@pytest.fixture
def run(ada: User) -> Run:
    return recorded.record(ada)


def text_of(response: Any) -> str:
    return str(response.content.decode())


PLACES: dict[str, Any] = {
    "task_id": 1,
    "tool_call_id": "c1-1",
    "source_id": 1,
    "hash": "0" * 64,
    "format": "md",
}


CONTROLS = (
    "/steer/",
    "/pause/",
    "/resume/",
    "/finish/",
    "/cancel/",
    "/again/",
    "/follow-up/",
    "/retry/",
)


def addresses_of(run_id: object) -> list[str]:
    """Every address of a run that the URL conf knows, and so every one that is added later."""
    found = []
    for pattern in get_resolver("research.urls").url_patterns:
        names = pattern.pattern.converters
        if "run_id" in names:
            kwargs = {name: PLACES[name] for name in names if name != "run_id"}
            found.append(reverse(pattern.name, kwargs={"run_id": run_id, **kwargs}))  # type: ignore[union-attr]
    return found


def store_blob(run: Run, text: str = "a very long text") -> None:
    Blob.objects.create(stream=run.stream, hash=PLACES["hash"], text=text)


# --- who may see what ----------------------------------------------------------------------------
def test_everything_of_a_run_asks_who_comes(client: Client, run: Run) -> None:
    store_blob(run)
    for address in [*addresses_of(run.pk), "/", "/runs/"]:
        response = client.get(address)
        assert response.status_code == 302, address
        assert response["Location"].startswith("/signin/?next=/"), address


def test_everything_of_a_run_is_there_for_its_user(page: Client, run: Run) -> None:
    store_blob(run)
    addresses = addresses_of(run.pk)
    assert len(addresses) >= 7
    for address in addresses:
        response = page.get(address)
        expected = 302 if address.endswith(CONTROLS) else 200
        assert response.status_code == expected, address


def test_no_cache_keeps_what_only_its_user_may_see(page: Client, run: Run) -> None:
    store_blob(run)
    for address in [*addresses_of(run.pk), "/"]:
        assert "no-store" in page.get(address)["Cache-Control"], address


def test_a_run_of_somebody_else_is_the_same_as_none(run: Run, client: Client) -> None:
    store_blob(run)
    client.force_login(User.objects.create_user("mallory"))
    nowhere = uuid4()
    for theirs, none in zip(addresses_of(run.pk), addresses_of(nowhere), strict=True):
        for method in (client.get, client.post):
            response, other = method(theirs), method(none)
            assert response.status_code == other.status_code, theirs
            assert response.status_code in (404, 405), theirs
            assert text_of(response) == text_of(other), theirs
    run.refresh_from_db()
    assert run.stream.head == len(recorded.whole())


def test_what_changes_something_asks_for_the_token_of_its_form(ada: User, run: Run) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    for address in ("/runs/", f"/runs/{run.pk}/cancel/", "/signout/", "/signin/"):
        assert client.post(address, {"topic": "x"}).status_code == 403, address
    assert Run.objects.count() == 1


def test_asking_for_a_page_changes_nothing(page: Client, ada: User) -> None:
    run = recorded.record(ada, recorded.whole()[:40])
    for address in [*addresses_of(run.pk), "/runs/"]:
        page.get(address)
    run.refresh_from_db()
    assert (run.status, run.stream.head, Run.objects.count()) == ("running", 40, 1)


@pytest.mark.parametrize(
    "target", ["//evil.test", "/\\evil.test", "https://evil.test/", "javascript:x"]
)
def test_signing_in_leads_to_this_site_alone(client: Client, ada: User, target: str) -> None:
    data = {"username": "ada", "password": "a-long-password", "next": target}
    response = client.post("/signin/", data)
    assert (response.status_code, response["Location"]) == (302, "/")


def test_a_wrong_password_is_told_in_a_sentence(client: Client, ada: User) -> None:
    response = client.post("/signin/", {"username": "ada", "password": "wrong"})
    assert response.status_code == 200
    assert 'role="alert"' in text_of(response)


def test_signing_out_ends_the_session(page: Client) -> None:
    assert page.get("/signout/").status_code == 405
    assert page.post("/signout/").status_code == 302
    assert page.get("/").status_code == 302


# --- asking --------------------------------------------------------------------------------------
def test_a_question_starts_a_run_and_leads_to_its_page(page: Client, ada: User) -> None:
    mine = Collection.objects.create(name="mine", owner=ada)
    asked = {"topic": "What is it?", "collection": mine.pk, "key": "k1"}
    response = page.post("/runs/", asked)
    run = Run.objects.get()
    assert response["Location"] == f"/runs/{run.pk}/"
    assert (run.topic, run.options["collections"]) == ("What is it?", [mine.pk])
    shown = text_of(page.get(response["Location"]))
    assert 'data-status="running"' in shown and "leader" in shown


def test_a_form_sent_twice_starts_one_run(page: Client) -> None:
    form = {"topic": "What is it?", "key": "k1"}
    first, second = page.post("/runs/", form), page.post("/runs/", form)
    assert first["Location"] == second["Location"]
    assert Run.objects.count() == 1


def test_an_empty_question_starts_nothing_and_says_so(page: Client) -> None:
    for topic in ("", "   \n"):
        response = page.post("/runs/", {"topic": topic, "key": "k1"})
        assert response.status_code == 422
        assert "Ask a question first." in text_of(response)
    assert not Run.objects.exists()


def test_a_collection_of_somebody_else_is_not_offered_and_not_taken(page: Client) -> None:
    other = User.objects.create_user("eve")
    theirs = Collection.objects.create(name="secret papers", owner=other)
    assert "secret papers" not in text_of(page.get("/"))
    response = page.post("/runs/", {"topic": "What?", "collection": theirs.pk, "key": "k"})
    assert response.status_code == 422
    assert not Run.objects.exists()


def test_home_finds_a_run_by_its_question_and_by_its_tasks(page: Client, ada: User) -> None:
    for number in range(25):
        recorded.record(ada, [(Voice(), v.RunStarted(topic="x"))]).save()
        Run.objects.filter(topic=recorded.TOPIC).update(topic=f"Question {number:02}")
    found = text_of(page.get("/?q=question 07"))
    assert "Question 07" in found and "Question 08" not in found
    first = text_of(page.get("/"))
    assert first.count('class="run-row"') == 20 and 'rel="next"' in first
    assert text_of(page.get("/?page=2")).count('class="run-row"') == 5


def test_cancel_says_that_it_is_under_way(page: Client, ada: User) -> None:
    run = recorded.record(ada, recorded.whole()[:40])
    assert "Cancel" in text_of(page.get(f"/runs/{run.pk}/"))
    response = page.post(f"/runs/{run.pk}/cancel/")
    assert response["Location"] == f"/runs/{run.pk}/"
    shown = text_of(page.get(f"/runs/{run.pk}/"))
    assert 'data-status="cancelling"' in shown and "Stopping" in shown


def test_cancelling_a_run_that_has_ended_changes_nothing(page: Client, run: Run) -> None:
    response = page.post(f"/runs/{run.pk}/cancel/")
    assert response["Location"] == f"/runs/{run.pk}/"
    shown = text_of(page.get(f"/runs/{run.pk}/"))
    assert 'data-status="completed"' in shown and "control-cancel" not in shown


def test_the_composer_is_filled_in_as_the_address_asks_and_starts_nothing(
    page: Client, ada: User, run: Run
) -> None:
    mine = Collection.objects.create(name="mine", owner=ada)
    shown = text_of(page.get(f"/?topic=Why%3F&collection={mine.pk}"))
    assert ">\nWhy?</textarea>" in shown and f'<option value="{mine.pk}" selected>' in shown
    Run.objects.filter(pk=run.pk).update(options={"researchers": 5, "collections": [mine.pk]})
    shown = text_of(page.get(f"/?again={run.pk}"))
    assert f">\n{recorded.TOPIC}</textarea>" in shown
    assert (
        f'<option value="{mine.pk}" selected>' in shown and '<option value="5" selected>' in shown
    )
    assert Run.objects.count() == 1


@pytest.mark.parametrize("address", ["/?again=x", f"/?again={uuid4()}", "/?collection=99999999"])
def test_an_address_that_asks_for_what_is_not_there_shows_an_empty_composer(
    page: Client, address: str
) -> None:
    shown = text_of(page.get(address))
    assert ">\n</textarea>" in shown


def test_a_question_of_somebody_else_is_not_asked_again(run: Run, client: Client) -> None:
    client.force_login(User.objects.create_user("eve"))
    assert recorded.TOPIC not in text_of(client.get(f"/?again={run.pk}"))


def test_the_depth_that_was_chosen_is_the_number_of_researchers(page: Client) -> None:
    page.post("/runs/", {"topic": "What is it?", "researchers": "5", "key": "k1"})
    assert Run.objects.get().options["researchers"] == 5
    assert page.post("/runs/", {"topic": "x", "researchers": "9", "key": "k"}).status_code == 422


def test_home_tells_how_far_a_run_is_and_why_one_failed(page: Client, ada: User) -> None:
    going = recorded.record(ada, recorded.whole()[:40])
    for number, status in enumerate(("completed", "in_progress", "pending"), 1):
        Task.objects.create(run=going, task_id=number, step=number, query="q", status=status)
    failed = recorded.record(ada, [])
    Run.objects.filter(pk=failed.pk).update(status="failed", error_code="model_timeout")
    shown = text_of(page.get("/"))
    assert f'id="run-{going.pk}" data-active' in shown and "tasks 1/3" in shown
    assert "2 sources" in shown and "The model did not answer in time." in shown


def test_home_asks_the_database_the_same_for_one_run_and_for_twenty(
    page: Client, ada: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(20):
        recorded.record(ada, [])
    with django_assert_max_num_queries(8):
        page.get("/")


# --- deleting ------------------------------------------------------------------------------------
def test_a_run_that_is_deleted_leaves_nothing_behind(page: Client, ada: User, run: Run) -> None:
    kept = recorded.record(ada)
    run.sources.filter(source_id=1).update(archive=Archive.objects.create(hash="a", text="alone"))
    store_blob(run)
    assert "Delete this research?" in text_of(page.get(f"/runs/{run.pk}/delete/"))
    assert Run.objects.count() == 2
    assert page.post(f"/runs/{run.pk}/delete/")["Location"] == "/"
    assert page.get(f"/runs/{run.pk}/").status_code == 404
    for model in (Stream, EventRow, Blob, Run, Source, Member):
        key = (
            "stream_id"
            if model in (EventRow, Blob)
            else "run"
            if model in (Source, Member)
            else "pk"
        )
        assert not model._default_manager.filter(**{key: run.pk}).exists(), model
    assert not Archive.objects.filter(pk="a").exists()
    assert kept.sources.filter(archive__text=recorded.PAGE).count() == 2


def test_a_run_that_goes_on_is_not_deleted_and_the_page_says_what_to_do(
    page: Client, ada: User
) -> None:
    run = recorded.record(ada, recorded.whole()[:40])
    response = page.post(f"/runs/{run.pk}/delete/")
    assert response.status_code == 409 and "Cancel it first" in text_of(response)
    assert Run.objects.filter(pk=run.pk).exists()


# --- reading -------------------------------------------------------------------------------------
def test_the_page_of_a_finished_run_shows_report_plan_and_what_is_missing(
    page: Client, run: Run
) -> None:
    shown = text_of(page.get(f"/runs/{run.pk}/"))
    assert "<title>✓ " in shown
    assert "What this report does not answer" in shown and "What a rollback does" in shown
    assert "1 reference led to no stored source" in shown
    assert f'data-cursor="{run.stream.cursor}"' in shown
    assert "The worker was lost." in shown


def test_a_failed_run_says_in_a_sentence_what_to_do_now(page: Client, ada: User) -> None:
    failed = v.RunFailed(code="model_unreachable", message="In the log.")
    run = recorded.record(ada, [*recorded.opening(), (Voice(), failed)])
    Run.objects.filter(pk=run.pk).update(status="failed")
    shown = text_of(page.get(f"/runs/{run.pk}/"))
    assert "cannot be reached. Check the network" in shown.replace("\n", " ")
    assert "<code>model_unreachable</code>" in shown and f'href="/?again={run.pk}"' in shown


def test_the_timeline_is_grouped_as_the_address_says(page: Client, run: Run) -> None:
    by_task = text_of(page.get(f"/runs/{run.pk}/"))
    by_member = text_of(page.get(f"/runs/{run.pk}/?group=member"))
    assert 'id="timeline"' in by_task and 'id="team_lanes"' not in by_task
    assert 'id="team_lanes"' in by_member and 'id="timeline"' not in by_member
    for shown in (by_task, by_member):
        assert shown.count('id="tool-c1-1"') == shown.count('id="msg-mc1-1"') == 1
    assert text_of(page.get(f"/runs/{run.pk}/?group=nonsense")).count('id="timeline"') == 1


def test_a_citation_leads_to_its_passage_in_the_source(page: Client, run: Run) -> None:
    shown = text_of(page.get(f"/runs/{run.pk}/"))
    href = f"/runs/{run.pk}/sources/1/?start={recorded.START}&amp;end={recorded.END}#quote"
    assert href in shown
    source = text_of(page.get(href.replace("&amp;", "&")))
    assert f'<mark id="quote" tabindex="-1">{recorded.QUOTE}</mark>' in source
    assert "回滚时不会执行" in source


@pytest.mark.parametrize(
    "span",
    ["", "start=1", "start=a&end=b", "start=9&end=3", "start=-5&end=4", "start=999999&end=9999999"],
)
def test_a_passage_that_is_not_there_shows_the_source_without_one(
    page: Client, run: Run, span: str
) -> None:
    shown = page.get(f"/runs/{run.pk}/sources/1/?{span}")
    assert shown.status_code == 200
    assert "<mark" not in text_of(shown) and "autocommit mode" in text_of(shown)


def test_a_passage_behind_the_end_is_cut_there(page: Client, run: Run) -> None:
    shown = text_of(page.get(f"/runs/{run.pk}/sources/1/?start={recorded.START}&end=999999"))
    assert "回滚时不会执行。\n</mark>" in shown


def test_a_task_a_tool_and_a_source_that_are_not_there_are_not_found(
    page: Client, run: Run
) -> None:
    for rest in ("tasks/99/", "tools/none/", "sources/99/", f"blobs/{'f' * 64}"):
        assert page.get(f"/runs/{run.pk}/{rest}").status_code == 404, rest


def test_a_source_that_only_a_discarded_attempt_found_is_not_there(page: Client, run: Run) -> None:
    run.sources.filter(source_id=2).update(finders=[])
    assert page.get(f"/runs/{run.pk}/sources/2/").status_code == 404
    assert page.get(f"/runs/{run.pk}/sources/1/").status_code == 200


def test_a_long_text_comes_as_a_file_and_never_as_a_page(page: Client, run: Run) -> None:
    store_blob(run, "<script>alert(1)</script>")
    response = page.get(f"/runs/{run.pk}/blobs/{PLACES['hash']}")
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Disposition"].startswith("attachment")


def test_a_section_too_long_for_its_event_is_shown_whole(page: Client, ada: User) -> None:
    text = "A long sentence. " * 6000 + "The very end."
    section = v.ReportSection(section=1, kind="lead", title="In short", text=text)
    run = recorded.record(ada, [*recorded.opening(), (recorded.WRITER, section)])
    assert Blob.objects.filter(stream=run.stream).exists()
    assert "The very end." in text_of(page.get(f"/runs/{run.pk}/"))
    assert "The very end." in text_of(page.get(f"/runs/{run.pk}/export/md"))


def test_a_run_whose_log_is_empty_has_a_page(page: Client, ada: User) -> None:
    run = recorded.record(ada, [])
    assert page.get(f"/runs/{run.pk}/").status_code == 200


def test_a_page_goes_on_with_what_the_log_says_now(page: Client, ada: User) -> None:
    events = recorded.whole()
    run = recorded.record(ada, events[:60])
    page.get(f"/runs/{run.pk}/")
    log.append(run.pk, recorded.drafts(events[60:]))
    assert 'data-status="completed"' in text_of(page.get(f"/runs/{run.pk}/"))


def test_a_page_that_is_loaded_again_folds_only_what_is_new(
    page: Client, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = recorded.whole()
    run = recorded.record(ada, events[:60])
    page.get(f"/runs/{run.pk}/")
    folded: list[int] = []

    def counted(state: Any, texts: list[str]) -> Any:
        folded.append(len(texts))
        return fold(state, texts)

    monkeypatch.setattr(states, "fold", counted)
    page.get(f"/runs/{run.pk}/")
    log.append(run.pk, recorded.drafts(events[60:]))
    shown = text_of(page.get(f"/runs/{run.pk}/"))
    assert folded == [len(events) - 60]
    states._states.clear()
    assert text_of(page.get(f"/runs/{run.pk}/")).count("<li") == shown.count("<li")


# --- strangers' words ----------------------------------------------------------------------------
def test_nothing_that_a_stranger_wrote_is_more_than_text_on_any_page(
    page: Client, ada: User
) -> None:
    run = recorded.record(ada, hostile.events())
    Run.objects.filter(pk=run.pk).update(topic=hostile.EVIL)
    run.sources.filter(source_id=1).update(
        title=hostile.EVIL[:300], uri="javascript:alert(1)", provider=hostile.EVIL[:32]
    )
    for rest in ("", "tasks/1/", "sources/1/?start=0&end=5"):
        hostile.assert_inert(text_of(page.get(f"/runs/{run.pk}/{rest}")))
    tool = f"/runs/{run.pk}/tools/{quote(hostile.CALL, safe='')}/"
    assert tool in text_of(page.get(f"/runs/{run.pk}/"))
    hostile.assert_inert(text_of(page.get(tool)))
    hostile.assert_inert(text_of(page.get("/")))
    hostile.assert_inert(text_of(page.get("/?q=%3Cscript%3Ealert(1)%3C/script%3E")))
    response = page.post("/runs/", {"topic": "", "key": hostile.EVIL})
    hostile.assert_inert(text_of(response))


def test_every_page_tells_the_browser_what_it_may_load(page: Client, run: Run) -> None:
    store_blob(run)
    for address in [*addresses_of(run.pk), "/", "/signin/", "/nowhere/", "/admin/"]:
        response: HttpResponse = page.get(address)  # type: ignore[assignment]
        policy = response["Content-Security-Policy"]
        assert re.search(r"script-src '(self|none)'", policy), address
        assert "unsafe" not in policy, address
