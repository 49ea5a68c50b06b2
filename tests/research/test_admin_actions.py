"""What staff do in the admin: runs are cancelled, done again and kept; notes are changed."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from research.actions import notes as actions
from research.engine.work import apply
from research.models import Note, Run
from streaming import log
from tests.research import recorded
from tests.research.admin_rows import list_of, page_of, staff_with

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def ended(ada: User) -> Run:
    return recorded.record(ada)


@pytest.fixture
def live(ada: User) -> Run:
    return recorded.record(ada, recorded.whole()[:40])


def act(client: Client, action: str, *runs: Run, **given: Any) -> Any:
    sent = {"action": action, "_selected_action": [str(run.pk) for run in runs], **given}
    return client.post(list_of(Run), sent, follow=True)


def shown(response: Any) -> str:
    return str(response.content.decode())


# --- runs ----------------------------------------------------------------------------------------
def test_runs_are_cancelled_and_those_that_are_not_say_why(
    staff: Client, ended: Run, live: Run
) -> None:
    page = shown(act(staff, "cancel", ended, live))
    assert "1 run is being cancelled." in page
    assert "1 run is left as it is: it has ended already" in page
    live.refresh_from_db()
    assert live.status == "cancelling"
    event = json.loads(log.read_after(live.pk, 40)[-1].text)
    assert (event["type"], event["data"]["by"]) == ("run.cancelling", "root")
    assert LogEntry.objects.get().object_id == str(live.pk)
    page = shown(act(staff, "cancel", live))
    assert "it is being cancelled already" in page and "run is being cancelled." not in page


def test_runs_that_have_ended_are_done_again_for_their_user(
    staff: Client, ended: Run, live: Run, ada: User
) -> None:
    page = shown(act(staff, "again", ended, live))
    assert "1 run is started again." in page and "it goes on still" in page
    child = Run.objects.get(parent=ended)
    assert (child.user, child.topic, child.status) == (ada, ended.topic, "running")
    assert Run.objects.count() == 3


def test_many_runs_are_asked_for_first(staff: Client, ada: User) -> None:
    runs = [recorded.record(ada, recorded.whole()[:3]) for _ in range(7)]
    page = act(staff, "cancel", *runs)
    assert "These are 7 runs." in shown(page)
    assert not Run.objects.filter(status="cancelling").exists()
    page = act(staff, "cancel", *runs, confirmed="yes")
    assert "7 runs are being cancelled." in shown(page)
    assert Run.objects.filter(status="cancelling").count() == 7


def test_no_more_runs_are_taken_at_once_than_can_be(
    staff: Client, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("research.admin.run_actions.MOST", 6)
    for _ in range(8):
        recorded.record(ada, recorded.whole()[:3])
    page = act(staff, "cancel", *Run.objects.all()[:1], select_across="1")
    assert "No more than 6 are taken at once" in shown(page)
    sent = [run.pk for run in page.context["runs"]]
    act(staff, "cancel", *Run.objects.filter(pk__in=sent), confirmed="yes")
    assert Run.objects.filter(status="cancelling").count() == 6


def test_runs_are_kept_as_files_in_one_archive(
    staff: Client, ended: Run, live: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = act(staff, "files_of", ended, live, format="md")
    assert response["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(response.content)) as kept:
        names = kept.namelist()
        assert {name.split("/")[0] for name in names} == {str(ended.pk), str(live.pk)}
        assert all(name.endswith(".md") and ".." not in name for name in names)
        assert "the callback is discarded" in kept.read(names[-1]).decode()
    monkeypatch.setattr("research.admin.run_actions.FILES_BYTES", 10)
    response = act(staff, "files_of", ended, format="json")
    with zipfile.ZipFile(io.BytesIO(response.content)) as kept:
        assert kept.namelist() == ["missing.txt"]
        assert str(ended.pk) in kept.read("missing.txt").decode()
    monkeypatch.setattr("research.admin.run_actions.FILES_MOST", 1)
    assert "Choose at most 1 runs" in shown(act(staff, "files_of", ended, live, format="json"))


def test_actions_are_for_those_who_have_their_permission(
    client: Client, ended: Run, live: Run
) -> None:
    client.force_login(staff_with("view_run"))
    page = shown(client.get(list_of(Run)))
    assert 'value="files_of"' in page
    assert 'value="cancel"' not in page and 'value="again"' not in page
    act(client, "cancel", live, confirmed="yes")
    act(client, "again", ended, confirmed="yes")
    live.refresh_from_db()
    assert live.status == "running" and Run.objects.count() == 2
    assert act(client, "files_of", ended, format="json")["Content-Type"] == "application/zip"


def test_who_may_change_runs_decides_about_them_but_changes_no_row(
    client: Client, live: Run
) -> None:
    client.force_login(staff_with("view_run", "change_run"))
    assert client.post(page_of(live), {"topic": "x"}).status_code == 403
    assert "1 run is being cancelled." in shown(act(client, "cancel", live))


# --- notes ---------------------------------------------------------------------------------------
def note_in(run: Run) -> Note:
    return apply(run.pk, actions.add("ada", actions.Written.of("A title", "A text"))).value  # type: ignore[no-any-return]


def sent(staff: Client, note: Note, **changes: str) -> dict[str, str]:
    seen = staff.get(page_of(note)).context["adminform"].form.initial["seen"]
    before = {"title": note.title, "note_type": note.note_type, "tags": "", "content": note.content}
    return {**before, "seen": seen, **changes}


def test_a_note_is_changed_as_on_the_notes_page_with_the_person_in_the_log(
    staff: Client, live: Run
) -> None:
    note = note_in(live)
    changes = {"title": "Better", "tags": "a，b", "content": "Of root"}
    response = staff.post(page_of(note), sent(staff, note, **changes), follow=True)
    assert "was changed successfully" in shown(response)
    note.refresh_from_db()
    assert (note.title, note.content, note.tags, note.member) == (
        "Better",
        "Of root",
        ["a", "b"],
        "ada",
    )
    event = json.loads(log.read_after(live.pk, 40)[-1].text)
    assert (event["type"], event["source_member"], event["role"]) == (
        "note.saved",
        "root",
        "human_agent",
    )
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.user_id) == (
        str(note.pk),
        User.objects.get(username="root").pk,
    )
    assert "Of root" not in entry.change_message


def test_after_the_end_of_a_run_only_the_row_of_a_note_changes(staff: Client, ended: Run) -> None:
    note, head = note_in(ended), ended.stream.head
    staff.post(page_of(note), sent(staff, note, content="Later"))
    note.refresh_from_db()
    ended.stream.refresh_from_db()
    assert (note.content, ended.stream.head) == ("Later", head)


def test_a_note_is_deleted_as_on_the_notes_page_alone_and_with_others(
    staff: Client, live: Run
) -> None:
    one, two, three = (note_in(live) for _ in range(3))
    staff.post(reverse("admin:research_note_delete", args=[one.pk]), {"post": "yes"})
    rows = {"action": "delete_selected", "_selected_action": [two.pk, three.pk], "post": "yes"}
    staff.post(list_of(Note), rows)
    assert not Note.objects.exists()
    events = [json.loads(record.text) for record in log.read_after(live.pk, 40)][-3:]
    assert [(event["type"], event["source_member"]) for event in events] == [
        ("note.deleted", "root")
    ] * 3
    assert LogEntry.objects.count() == 3


def test_what_is_no_note_or_has_been_changed_meanwhile_is_not_saved(
    staff: Client, live: Run
) -> None:
    note = note_in(live)
    before = sent(staff, note, content="Mine")
    for changes in ({"title": " "}, {"content": "x" * 50_001}, {"content": ""}):
        response = staff.post(page_of(note), {**before, **changes})
        assert response.status_code == 200 and "errornote" in shown(response)
    apply(live.pk, actions.edit("ada", note.note_id, actions.Written.of("A", "Of Ada")))
    response = staff.post(page_of(note), before, follow=True)
    assert "changed in the meantime" in shown(response)
    note.refresh_from_db()
    assert note.content == "Of Ada"
    assert not LogEntry.objects.exists()
