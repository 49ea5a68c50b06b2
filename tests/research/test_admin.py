"""The admin shows everything to who may see it, and lets nobody rewrite the log."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from research import models
from research.access import new_token
from research.models import Run
from streaming.models import EventRow, Stream
from tests.research import recorded
from tests.research.admin_rows import (
    KINDS,
    READ_ONLY,
    list_of,
    name_of,
    page_of,
    staff_with,
    with_rows,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def run() -> Run:
    return with_rows(recorded.record(User.objects.create_user("ada")))


def shown(response: Any) -> str:
    assert response.status_code == 200, response
    return str(response.content.decode())


# --- what there is -------------------------------------------------------------------------------
@pytest.mark.both
@pytest.mark.parametrize("model", KINDS)
def test_every_kind_of_row_has_its_list_its_page_and_its_search(
    staff: Client, run: Run, model: Any
) -> None:
    rows = list_of(model)
    assert shown(staff.get(rows))
    for words in ("script", "回滚", str(run.pk), "' OR 1=1 --", "%_\\", "[", "x" * 3_000):
        assert staff.get(rows, {"q": words}).status_code == 200, words
    assert shown(staff.get(page_of(model.objects.all()[0])))


def test_no_kind_of_row_that_research_keeps_is_missing() -> None:
    left_out = {models.Chunk, models.SignInTries}  # the index's, and hashes that tell nothing
    ours = {model for model in vars(models).values() if hasattr(model, "_meta")}
    assert ours - left_out == set(KINDS) - {EventRow, Stream}
    assert set(KINDS) <= set(admin.site._registry)


@pytest.mark.parametrize("model", READ_ONLY)
def test_what_the_log_tells_of_cannot_be_changed_here(staff: Client, run: Run, model: Any) -> None:
    row = model.objects.all()[0]
    name = name_of(model)
    assert staff.get(reverse(f"{name}_add")).status_code == 403
    assert staff.post(page_of(row), {"x": 1}).status_code == 403
    assert staff.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    action = {"action": "delete_selected", "_selected_action": [str(row.pk)], "post": "yes"}
    staff.post(list_of(model), action)
    assert model.objects.filter(pk=row.pk).exists()


def test_a_run_shows_its_parts_and_leads_to_the_rest(staff: Client, run: Run) -> None:
    child = recorded.record(run.user, [])
    Run.objects.filter(pk=child.pk).update(parent=run, topic="And then?")
    page = shown(staff.get(page_of(run)))
    for part in ("task:1", "leader", "tool calls", "events", "And then?"):
        assert part in page, part
    log = reverse("admin:streaming_eventrow_changelist") + f"?stream__id__exact={run.pk}"
    assert f'href="{log}"' in page
    assert f"{len(recorded.whole())} events" in shown(staff.get(log))
    assert f'href="{page_of(run)}"' in shown(staff.get(page_of(child)))


def test_the_lists_of_a_run_hold_its_rows_alone(staff: Client, run: Run) -> None:
    other = recorded.record(run.user)
    for model in (models.ToolCall, models.Note, models.Source, models.Citation, models.Steer):
        for one in (run, other):
            response = staff.get(list_of(model) + f"?run__exact={one.pk}")
            assert shown(response)
            expected = model.objects.filter(run=one).count()
            assert response.context["cl"].result_count == expected


def test_a_run_is_to_be_had_as_a_file(staff: Client, run: Run) -> None:
    assert reverse("admin:research_run_export", args=[run.pk, "json"]) in shown(
        staff.get(page_of(run))
    )
    for format, part in (("md", "the callback is discarded"), ("json", "run.completed")):
        response = staff.get(reverse("admin:research_run_export", args=[run.pk, format]))
        assert part in shown(response)
        assert response["Content-Disposition"].startswith("attachment")
    assert staff.get(reverse("admin:research_run_export", args=[run.pk, "exe"])).status_code == 404
    gone = reverse(
        "admin:research_run_export", args=["0" * 8 + "-0000-4000-8000-" + "0" * 12, "json"]
    )
    assert staff.get(gone).status_code == 404


# --- who may see what ----------------------------------------------------------------------------
def pages_of_the_admin(run: Run) -> list[str]:
    pages = [reverse("admin:index"), reverse("admin:research_run_export", args=[run.pk, "json"])]
    for model in KINDS:
        pages += [list_of(model), page_of(model.objects.all()[0])]
    return pages


def test_a_member_of_the_public_sees_nothing_of_it(client: Client, run: Run) -> None:
    for page in pages_of_the_admin(run):
        assert client.get(page).status_code == 302, page
    client.force_login(run.user)
    for page in pages_of_the_admin(run):
        response = client.get(page)
        assert response.status_code == 302, page
        assert "/login/" in response["Location"]


def test_staff_without_a_permission_see_no_run_of_others(client: Client, run: Run) -> None:
    client.force_login(staff_with())
    index, *rest = pages_of_the_admin(run)
    assert 'class="glance"' not in shown(client.get(index))
    for page in rest:
        assert client.get(page).status_code == 403, page


def test_staff_see_the_kinds_of_rows_that_they_may_see_and_no_others(
    client: Client, run: Run
) -> None:
    client.force_login(staff_with("view_run", "view_note"))
    assert 'class="glance"' in shown(client.get(reverse("admin:index")))
    page = shown(client.get(page_of(run)))
    assert "task:1" not in page, "works have a permission of their own"
    for model in KINDS:
        expected = 200 if model in (models.Run, models.Note) else 403
        assert client.get(list_of(model)).status_code == expected, model
        assert client.get(page_of(model.objects.all()[0])).status_code == expected, model
    note = models.Note.objects.get()
    assert client.post(page_of(note), {"title": "x", "content": "y"}).status_code == 403
    delete = reverse("admin:research_note_delete", args=[note.pk])
    assert client.post(delete, {"post": "yes"}).status_code == 403


def test_the_page_of_a_run_is_its_users_alone_and_only_they_are_led_to_it(
    staff: Client, run: Run
) -> None:
    page = reverse("run", args=[run.pk])
    for row in (run, models.Task.objects.get(), models.Source.objects.all()[0]):
        for address in (list_of(type(row)), page_of(row)):
            assert f'href="{page}' not in shown(staff.get(address))
    assert staff.get(page).status_code == 404
    Run.objects.filter(pk=run.pk).update(user=User.objects.get(username="root"))
    for row in (run, models.Task.objects.get(), models.Source.objects.all()[0]):
        for address in (list_of(type(row)), page_of(row)):
            assert f'href="{page}' in shown(staff.get(address)), address
    assert staff.get(page).status_code == 200


# --- secrets -------------------------------------------------------------------------------------
def test_the_secret_of_a_token_is_nowhere(staff: Client, run: Run) -> None:
    secret = new_token(run.user, "laptop")
    for token in models.ApiToken.objects.all():
        for page in (page_of(token), list_of(models.ApiToken)):
            text = shown(staff.get(page))
            assert token.prefix in text
            assert token.hash not in text and secret not in text and token.hash not in repr(token)
        history = reverse("admin:research_apitoken_history", args=[token.pk])
        staff.post(page_of(token), {"name": "renamed"})
        assert token.hash not in shown(staff.get(history))
        assert LogEntry.objects.filter(object_id=token.pk).count() == 1
    found = staff.get(list_of(models.ApiToken), {"q": models.ApiToken.objects.all()[0].hash})
    assert found.context["cl"].result_count == 0, "nor to be found by it"
    assert staff.get(reverse("admin:research_apitoken_add")).status_code == 403


def test_a_token_is_revoked_with_a_word_about_it(staff: Client, run: Run) -> None:
    token = models.ApiToken.objects.get()
    row = {"action": "revoke", "_selected_action": [token.pk]}
    assert "1 token is revoked" in shown(staff.post(list_of(models.ApiToken), row, follow=True))
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert "0 tokens are revoked" in shown(staff.post(list_of(models.ApiToken), row, follow=True))
    for state, count in (("valid", 0), ("expired", 0), ("revoked", 1), ("nonsense", 1)):
        cl = staff.get(list_of(models.ApiToken), {"state": state}).context["cl"]
        assert cl.result_count == count, state


def test_a_collection_goes_with_its_documents(staff: Client, run: Run) -> None:
    collection = models.Collection.objects.get()
    delete = reverse("admin:research_collection_delete", args=[collection.pk])
    assert "Documents: 1" in shown(staff.get(delete))
    assert staff.post(delete, {"post": "yes"}).status_code == 302
    assert not models.Collection.objects.exists() and not models.Document.objects.exists()
    assert not models.Archive.objects.filter(hash="e" * 64).exists()


# --- the first page ------------------------------------------------------------------------------
@pytest.mark.both
def test_the_first_page_tells_how_the_house_stands(staff: Client, run: Run) -> None:
    assert "Nothing failed." in shown(staff.get(reverse("admin:index")))
    now = timezone.now()
    for status, code in (("running", ""), ("running", ""), ("failed", "model_down")):
        other = recorded.record(run.user, [])
        ended = now if status == "failed" else None
        Run.objects.filter(pk=other.pk).update(status=status, error_code=code, ended_at=ended)
        models.Work.objects.create(
            run=other, name="plan", member="leader", status=status, error_code=code, ended_at=ended
        )
    response = staff.get(reverse("admin:index"))
    glance = response.context["glance"]
    assert glance.runs == {"running": 2} and glance.failed == {"model_down": 1}
    assert (glance.queued, glance.running, glance.ended) == (1, 2, 1)
    page = shown(response)
    for part in page.split('href="')[1:]:
        address = part.split('"')[0].replace("&amp;", "&")
        if address.startswith("/admin/research/") and "?" in address:
            assert staff.get(address).context["cl"].result_count >= 1, address
