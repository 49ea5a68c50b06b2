"""The admin shows everything and lets nobody rewrite the log."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from research import models
from research.models import Run
from streaming.models import EventRow
from tests.research import hostile, recorded

pytestmark = pytest.mark.django_db

READ_ONLY = (
    models.Run,
    models.Work,
    models.Task,
    models.Note,
    models.ToolCall,
    models.Source,
    models.Citation,
    models.Document,
    EventRow,
)


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def run() -> Run:
    return _with_rows(recorded.record(User.objects.create_user("ada")))


def _with_rows(run: Run, text: str = "<script>alert(1)</script>") -> Run:
    said = {"member": "researcher-1", "work": "task:1", "attempt": 1}
    task = models.Task.objects.create(run=run, task_id=1, step=1, title=text, query=text)
    models.Work.objects.create(run=run, name="task:1", member="researcher-1")
    models.ToolCall.objects.create(
        run=run, tool_call_id="c1-1", task=task, tool=text[:60], args={"query": text}, **said
    )
    models.Note.objects.create(run=run, note_id=1, task=task, title=text, content=text, **said)
    models.Citation.objects.create(
        run=run, number=1, section=1, source=run.sources.all()[0], claim=text, quote=text
    )
    collection = models.Collection.objects.create(name=text[:80])
    models.Document.objects.create(
        collection=collection, path="a.md", title=text, archive=models.Archive.objects.all()[0]
    )
    models.ApiToken.objects.create(user=run.user, name=text[:80], prefix="snd_abcd", hash="h" * 64)
    return run


def list_of(model: type) -> str:
    meta = model._meta  # type: ignore[attr-defined]
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")


def test_every_kind_of_row_has_its_list_its_page_and_its_search(staff: Client, run: Run) -> None:
    kinds = (*READ_ONLY, models.Collection, models.ApiToken)
    assert set(kinds) <= set(admin.site._registry)
    for model in kinds:
        rows = list_of(model)
        assert staff.get(rows).status_code == 200, rows
        assert staff.get(rows, {"q": "script"}).status_code == 200, rows
        row = model.objects.all()[0]
        meta = model._meta
        page = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
        shown = staff.get(page).content.decode()
        assert (
            "<script>alert" not in shown and "<script>alert" not in staff.get(rows).content.decode()
        )


@pytest.mark.parametrize("model", READ_ONLY)
def test_what_the_log_tells_of_cannot_be_changed_here(staff: Client, run: Run, model: type) -> None:
    meta = model._meta  # type: ignore[attr-defined]
    row = model.objects.all()[0]  # type: ignore[attr-defined]
    name = f"admin:{meta.app_label}_{meta.model_name}"
    assert staff.get(reverse(f"{name}_add")).status_code == 403
    assert staff.post(reverse(f"{name}_change", args=[row.pk]), {"x": 1}).status_code == 403
    assert staff.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    action = {"action": "delete_selected", "_selected_action": [str(row.pk)], "post": "yes"}
    staff.post(list_of(model), action)
    assert model.objects.filter(pk=row.pk).exists()  # type: ignore[attr-defined]


def test_a_run_shows_its_works_tasks_and_members_and_leads_to_the_rest(
    staff: Client, run: Run
) -> None:
    shown = staff.get(reverse("admin:research_run_change", args=[run.pk])).content.decode()
    for part in ("task:1", "leader", f"/runs/{run.pk}/", "tool calls", "events"):
        assert part in shown, part
    log = reverse("admin:streaming_eventrow_changelist") + f"?stream__id__exact={run.pk}"
    assert f'href="{log}"' in shown
    assert f"{len(recorded.whole())} events" in staff.get(log).content.decode()


def test_the_lists_of_a_run_hold_its_rows_alone(staff: Client, run: Run) -> None:
    other = recorded.record(run.user)
    for model in (models.ToolCall, models.Note, models.Source, models.Citation):
        rows = list_of(model) + f"?run__exact={other.pk}"
        response = staff.get(rows)
        assert response.status_code == 200
        expected = model.objects.filter(run=other).count()
        assert response.context["cl"].result_count == expected


def test_a_list_asks_as_often_for_many_rows_as_for_few(
    staff: Client, run: Run, django_assert_max_num_queries: object
) -> None:
    for number in range(30):
        models.Note.objects.create(
            run=run, note_id=100 + number, member="m", work="w", attempt=1, title="t", content="c"
        )
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        staff.get(list_of(models.Note))
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        staff.get(list_of(EventRow))


def test_the_secret_of_a_token_is_nowhere(staff: Client, run: Run) -> None:
    token = models.ApiToken.objects.get()
    page = staff.get(reverse("admin:research_apitoken_change", args=[token.pk])).content.decode()
    assert "snd_abcd" in page and "h" * 64 not in page
    assert staff.get(reverse("admin:research_apitoken_add")).status_code == 403


def test_a_member_of_the_public_sees_nothing_of_it(client: Client, run: Run) -> None:
    client.force_login(run.user)
    assert client.get(list_of(Run)).status_code == 302


def test_hostile_words_stay_words_in_the_admin(staff: Client) -> None:
    run = _with_rows(
        recorded.record(User.objects.create_user("eve"), hostile.events()), hostile.EVIL[:300]
    )
    Run.objects.filter(pk=run.pk).update(topic=hostile.EVIL, error_message=hostile.EVIL)
    for model in READ_ONLY:
        shown = staff.get(list_of(model)).content.decode()
        for attack in ("<script>alert", "<img src=x", "<iframe", "<base", "<svg onload", "<math"):
            assert attack not in shown, (model, attack)
