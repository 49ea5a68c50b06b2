"""The controls on the page of a run: forms that work with and without a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client

from research.actions import runs, works
from research.actions.steer import hear
from research.engine import controls
from research.engine.work import rerun
from research.faces import fragments
from research.faces.cache import Cache
from research.fold import load
from research.models import Run, Steer
from streaming import log

from . import test_html_face as face
from .conftest import Steps

pytestmark = [pytest.mark.django_db(transaction=True)]

JSON = {"HTTP_ACCEPT": "application/json"}


@pytest.fixture
def page(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


@pytest.fixture
def stranger(rival: User) -> Client:
    client = Client()
    client.force_login(rival)
    return client


def at(steps: Steps, what: str = "") -> str:
    return f"/runs/{steps.id}/{what}"


def shown(page: Client, steps: Steps) -> str:
    return page.get(at(steps)).content.decode()


@pytest.mark.parametrize(
    ("what", "status"),
    [("pause/", "paused"), ("finish/", "finishing"), ("cancel/", "cancelling")],
)
def test_a_button_without_a_script_leads_back_to_the_page_that_shows_it(
    page: Client, steps: Steps, what: str, status: str
) -> None:
    steps.plan("One")
    response = page.post(at(steps, what), {"key": "k"})
    assert (response.status_code, response["Location"]) == (302, at(steps))
    assert steps.row().status == status
    page.post(at(steps, what), {"key": "k"})
    assert steps.row().status == status


def test_what_cannot_be_done_is_said_on_the_page_once(page: Client, steps: Steps) -> None:
    steps.plan("One")
    page.post(at(steps, "resume/"))
    assert '<span class="control-error">This run is not paused.</span>' in shown(page, steps)
    assert "This run is not paused." not in shown(page, steps)


def test_a_script_is_answered_with_what_the_command_answers(page: Client, steps: Steps) -> None:
    steps.plan("One")
    said = {"text": "Look at <b>horns</b>.", "to": "researcher-1", "key": "k"}
    first = page.post(at(steps, "steer/"), said, **JSON)  # type: ignore[arg-type]
    again = page.post(at(steps, "steer/"), said, **JSON)  # type: ignore[arg-type]
    assert first.status_code == 200
    assert (first.json()["applied_seq"], first.json()["missed"]) == (steps.events()[-1].seq, False)
    assert (first.json()["duplicate"], again.json()["duplicate"]) == (False, True)
    assert first.json()["says"] and first.json()["leads"] is None
    assert Steer.objects.count() == 1
    whole = shown(page, steps)
    assert "ann to researcher-1" in whole and "Waits for the next step." in whole
    assert "Look at &lt;b&gt;horns&lt;/b&gt;." in whole and "<b>horns" not in whole


@pytest.mark.parametrize(
    ("what", "given", "status", "code"),
    [
        ("steer/", {"text": " "}, 422, "empty_text"),
        ("steer/", {"text": "x" * 5000}, 422, "too_long"),
        ("steer/", {"text": "Hm.", "to": "nobody"}, 404, "no_member"),
        ("resume/", {}, 409, "not_paused"),
        ("again/", {}, 409, "still_running"),
        ("tasks/9/retry/", {}, 404, "no_task"),
        ("tasks/1/retry/", {}, 409, "not_failed"),
        ("follow-up/", {"topic": ""}, 422, "empty_topic"),
    ],
)
def test_a_script_is_told_why_not_by_a_code_and_a_sentence(
    page: Client, steps: Steps, what: str, given: dict[str, str], status: int, code: str
) -> None:
    steps.plan("One")
    before = steps.events()
    response = page.post(at(steps, what), given, **JSON)  # type: ignore[arg-type]
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.json()["says"].endswith((".", ")"))
    assert steps.events() == before


ALL = [
    "steer",
    "pause",
    "resume",
    "finish",
    "cancel",
    "again",
    "follow-up",
    "tasks/1/retry",
]


@pytest.mark.parametrize("what", ALL)
def test_to_a_stranger_there_is_nothing_to_control(
    stranger: Client, steps: Steps, what: str
) -> None:
    steps.plan("One")
    before = steps.events()
    response = stranger.post(at(steps, f"{what}/"), {"text": "Hm.", "topic": "What?"}, **JSON)  # type: ignore[arg-type]
    assert response.status_code == 404
    assert (steps.events(), Run.objects.count()) == (before, 1)


@pytest.mark.parametrize("what", ALL)
def test_a_form_of_another_site_controls_nothing(user: User, steps: Steps, what: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    assert client.post(at(steps, f"{what}/"), {"text": "Hm."}).status_code == 403
    assert steps.row().status == "running"


def test_run_again_and_a_follow_up_lead_to_the_child_and_both_are_linked(
    page: Client, steps: Steps, rival: User
) -> None:
    steps.do(runs.fail("plan_failed", "No plan could be made."))
    leads = page.post(at(steps, "again/"), **JSON).json()["leads"]  # type: ignore[arg-type]
    asked = page.post(at(steps, "follow-up/"), {"topic": "And in fog?", "key": "f"})
    twice = page.post(at(steps, "follow-up/"), {"topic": "And in fog?", "key": "f"})
    assert asked["Location"] == twice["Location"] != leads
    assert Run.objects.filter(parent_id=steps.id).count() == 2
    whole = shown(page, steps)
    assert f'href="{leads}"' in whole and f'href="{asked["Location"]}">And in fog?' in whole
    child = page.get(asked["Location"]).content.decode()
    assert "Follows" in child and f'href="{at(steps)}"' in child
    theirs = rerun(steps.row(), rival).run
    assert f"/runs/{theirs.pk}/" not in shown(page, steps), "another's child is not shown"


# --- the pieces ----------------------------------------------------------------------------------
def paused(steps: Steps, user: User) -> None:
    controls.pause(steps.row(), user)


def finished(steps: Steps, user: User) -> None:
    controls.finish(steps.row(), user)


def cancelled(steps: Steps, user: User) -> None:
    controls.cancel(steps.row(), user)


def ended(steps: Steps, user: User) -> None:
    controls.cancel(steps.row(), user)
    steps.do(runs.stopped)


STATES: list[tuple[Callable[[Steps, User], None] | None, set[str]]] = [
    (None, {"pause", "finish", "cancel"}),
    (paused, {"resume", "finish", "cancel"}),
    (finished, {"cancel"}),
    (cancelled, set()),
    (ended, {"again"}),
]


@pytest.mark.parametrize(("bring", "offered"), STATES)
def test_only_what_can_be_done_is_offered(
    page: Client,
    steps: Steps,
    user: User,
    bring: Callable[[Steps, User], None] | None,
    offered: set[str],
) -> None:
    steps.plan("One")
    if bring:
        bring(steps, user)
    whole = shown(page, steps)
    every = ("pause", "resume", "finish", "cancel", "again")
    assert {name for name in every if f'formaction="{at(steps, name)}/"' in whole} == offered
    assert ('retry/"' in whole) == (bring is ended)


def test_whom_one_may_speak_to_are_those_who_can_hear(page: Client, steps: Steps) -> None:
    steps.plan("One")
    page.post(at(steps, "steer/"), {"text": "Hm."})
    whole = shown(page, steps)
    names = ["leader", "researcher-1", "researcher-2", "researcher-3", "writer"]
    assert all('<option id="to-' in whole and f'value="{name}"' in whole for name in names)
    select = whole[whole.index('id="steer_to"') :].partition("</select>")[0]
    assert "verifier" not in select and "ann" not in select


@pytest.mark.parametrize("group", ["task", "member"])
def test_a_page_that_followed_the_controls_equals_one_that_was_loaded(
    steps: Steps, user: User, monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    first, second = steps.plan("One", "Two")
    controls.steer(steps.row(), user, "Look at horns.", "researcher-1")
    controls.steer(steps.row(), user, "Too late.", "leader")
    steps.do(hear("task:1", ()), first)
    steps.do(works.fail("task:2", "provider_error", "Down."), second)
    controls.retry(steps.row(), user, 2)
    controls.pause(steps.row(), user)
    steps.do(works.put_aside("task:1", None), first)
    controls.resume(steps.row(), user)
    controls.finish(steps.row(), user)
    steps.do(runs.stopped)
    cancelled(steps, user)
    steps.do(runs.stopped)
    texts = [record.text for record in log.read_after(steps.id, 0, 10_000)]
    monkeypatch.setattr(face, "LOG", texts)
    monkeypatch.setattr(fragments, "_rendered", Cache(0))
    dom = face.page_at(0, group=group)
    for seq in range(1, len(texts) + 1):
        dom = face.applied(dom, seq - 1, seq, group=group)
        assert dom == face.page_at(seq, group=group), texts[seq - 1]
    assert face.applied(face.page_at(5, group=group), 5, len(texts), group=group) == dom
    told = " ".join(html for _, _, html in dom.values())
    assert "Heard by researcher-1" in told and "Nobody hears it any more." in told


def test_time_that_a_run_was_paused_does_not_count(steps: Steps, user: User) -> None:
    (claimed,) = steps.plan("One")
    controls.pause(steps.row(), user)
    assert load(steps.id).run.status == "pausing"
    steps.do(works.put_aside("task:1", None), claimed)
    state = load(steps.id).run
    assert (state.status, bool(state.paused)) == ("paused", True)
    controls.resume(steps.row(), user)
    after: Any = load(steps.id).run
    assert (after.status, after.paused) == ("running", None)
    (began, went) = (e.ts for e in steps.events() if e.type in ("run.paused", "run.resumed"))
    assert (after.waited, after.clock) == (went - began, after.ts + went - began)


def test_a_run_that_was_led_to_names_its_parent(steps: Steps, user: User) -> None:
    steps.do(runs.fail("plan_failed", "No plan could be made."))
    child = rerun(steps.row(), user).run
    assert UUID(load(child.pk).run.parent or "") == steps.id
