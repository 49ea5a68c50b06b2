"""The Notes page: everything that one's research noted, and nothing of anybody else's."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import get_resolver, reverse

from research.actions import notes as actions
from research.engine.work import apply
from research.models import Note, Run, Task
from streaming import log
from tests.research import hostile, recorded

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def page(ada: User, client: Client) -> Client:
    client.force_login(ada)
    return client


@pytest.fixture
def ended(ada: User) -> Run:
    return recorded.record(ada)


@pytest.fixture
def live(ada: User) -> Run:
    return recorded.record(ada, recorded.whole()[:40])


def note_in(run: Run, title: str = "A title", content: str = "A text", **fields: Any) -> Note:
    run.refresh_from_db()
    run.last_note += 1
    run.save(update_fields=["last_note"])
    said = {"member": "researcher-1", "work": "task:1", "attempt": 1, **fields}
    return Note.objects.create(run=run, note_id=run.last_note, title=title, content=content, **said)


def shown(response: Any) -> str:
    return str(response.content.decode())


def titles(response: Any) -> list[str]:
    return [item.note.title for item in response.context["notes"]]


def fields(**changes: Any) -> dict[str, Any]:
    return {"title": "A title", "content": "A text", "note_type": "general", "tags": "", **changes}


def addresses(note: Note) -> list[str]:
    """Every address of the pages of notes that the URL conf knows."""
    found = []
    for pattern in get_resolver("research.urls").url_patterns:
        if str(pattern.pattern).startswith("notes/"):
            args = [note.pk] if "note" in pattern.pattern.converters else []
            found.append(reverse(pattern.name, args=args))  # type: ignore[union-attr]
    assert len(found) >= 6
    return found


# --- who may see what ----------------------------------------------------------------------------
def test_the_pages_of_notes_ask_who_comes(client: Client, ended: Run) -> None:
    for address in addresses(note_in(ended)):
        for method in (client.get, client.post):
            assert method(address)["Location"].startswith("/signin/?next=/notes/"), address


def test_the_pages_of_notes_are_there_for_their_user_and_in_no_cache(
    page: Client, ended: Run
) -> None:
    for address in addresses(note_in(ended)):
        response = page.get(address)
        assert response.status_code == 200, address
        assert "no-store" in response["Cache-Control"], address


def test_a_note_of_somebody_else_is_the_same_as_none(client: Client, ended: Run) -> None:
    note = note_in(ended, "Nobody's business")
    client.force_login(User.objects.create_user("mallory"))
    for theirs in addresses(note):
        if str(note.pk) not in theirs:
            assert "business" not in shown(client.get(theirs)), theirs
            continue
        for none in (theirs.replace(str(note.pk), "999"), theirs.replace(str(note.pk), "9" * 30)):
            for method in (client.get, client.post):
                response, other = method(theirs, fields()), method(none, fields())
                assert response.status_code == other.status_code, theirs
                assert response.status_code in (404, 405), theirs
                assert shown(response) == shown(other), theirs
    client.post("/notes/new/", fields(run=ended.pk, title="Mine"))
    assert [row.title for row in Note.objects.all()] == ["Nobody's business"]


def test_the_filters_reach_no_research_of_somebody_else(client: Client, ended: Run) -> None:
    note_in(ended, "Secret", note_type="hidden-kind", tags=["hidden-tag"])
    client.force_login(User.objects.create_user("mallory"))
    for query in (f"run={ended.pk}", "q=Secret", "kind=hidden-kind", "tag=hidden-tag"):
        response = client.get(f"/notes/?{query}")
        assert titles(response) == [] and response.context["filter"].runs == []
        assert recorded.TOPIC not in shown(response)
        assert "Secret" not in shown(client.get(f"/notes/notes.md?{query}"))


def test_what_changes_a_note_asks_for_the_token_of_its_form(ada: User, ended: Run) -> None:
    note = note_in(ended)
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    for address in addresses(note):
        assert client.post(address, fields(run=ended.pk)).status_code == 403, address
        assert client.get(address).status_code == 200, address
    assert Note.objects.get().content == "A text"


# --- finding -------------------------------------------------------------------------------------
@pytest.mark.both
def test_notes_are_found_by_words_research_kind_and_tag(
    page: Client, ended: Run, live: Run
) -> None:
    note_in(
        ended, "Rollback", "is never called", note_type="conclusion", tags=["on commit", "回滚"]
    )
    note_in(live, "Savepoints", "nest", tags=["on"])
    note_in(live, "回滚", "回调会被丢弃 100%", tags=['"quoted"'])
    for query, expected in (
        ("", ["回滚", "Savepoints", "Rollback"]),
        ("q=NEVER rollback", ["Rollback"]),
        ("q=never savepoints", []),
        (f"q={quote('丢弃')}", ["回滚"]),
        ("q=%25", ["回滚"]),
        ("q=researcher-1 nest", ["Savepoints"]),
        ("kind=conclusion", ["Rollback"]),
        (f"run={live.pk}", ["回滚", "Savepoints"]),
        ("run=none", ["回滚", "Savepoints", "Rollback"]),
        (f"tag={quote('回滚')}", ["Rollback"]),
        ("tag=on", ["Savepoints"]),
        (f"tag={quote(chr(34) + 'quoted' + chr(34))}", ["回滚"]),
        (f"tag=on&run={live.pk}&kind=general&q=nest", ["Savepoints"]),
    ):
        assert titles(page.get(f"/notes/?{query}")) == expected, query
    offered = page.get("/notes/").context["filter"]
    assert offered.tags == ['"quoted"', "on", "on commit", "回滚"]
    assert offered.kinds == ["conclusion", "general"]
    assert {run.pk for run in offered.runs} == {ended.pk, live.pk}


def test_many_notes_come_in_pages_that_keep_what_was_asked_for(page: Client, ended: Run) -> None:
    for number in range(45):
        note_in(ended, f"Note {number}", tags=["a b"])
    first = page.get("/notes/?tag=a+b")
    assert titles(first) == [f"Note {number}" for number in range(44, 24, -1)]
    assert 'href="?tag=a+b&amp;page=2"' in shown(first)
    assert titles(page.get("/notes/?tag=a+b&page=3")) == [f"Note {n}" for n in range(4, -1, -1)]
    assert page.get("/notes/?page=4").status_code == 404


def test_a_page_of_notes_asks_as_often_for_twenty_as_for_one(
    page: Client, ended: Run, live: Run, django_assert_num_queries: Any
) -> None:
    task = Task.objects.create(run=ended, task_id=1, step=1, title="t", query="q")
    note_in(ended, content="[S1:0-9] [S7]", task=task)
    page.get("/notes/")
    with django_assert_num_queries(10):
        page.get("/notes/")
    for number in range(30):
        note_in((ended, live)[number % 2], content="[S1:0-9] [S2]", task=task)
    with django_assert_num_queries(10):
        page.get("/notes/")


# --- what a note shows ---------------------------------------------------------------------------
def test_a_note_says_whose_it_is_and_leads_to_its_research_task_and_sources(
    page: Client, ended: Run
) -> None:
    task = Task.objects.create(run=ended, task_id=1, step=1, title="Look it up", query="q")
    note = note_in(ended, content="**It is** so [S1:3-9], or not [S9].", task=task)
    for address in ("/notes/", f"/notes/{note.pk}/"):
        text = shown(page.get(address))
        assert "<strong>It is</strong> so" in text
        assert f'href="/runs/{ended.pk}/sources/1/?start=3&amp;end=9#quote"' in text
        assert "or not S9." in text and "sources/9/" not in text
        assert f'href="/runs/{ended.pk}/tasks/1/"' in text and "researcher-1" in text
        assert page.get(f"/runs/{ended.pk}/sources/1/?start=3&end=9").status_code == 200


def test_a_long_note_is_shown_whole_on_its_own_page(page: Client, ended: Run) -> None:
    note = note_in(ended, content="word " * 2_000 + "the end")
    assert "the end" not in shown(page.get("/notes/"))
    assert "Read the whole note" in shown(page.get("/notes/"))
    assert "the end" in shown(page.get(f"/notes/{note.pk}/"))


def test_hostile_notes_are_words_on_every_page(page: Client, ada: User) -> None:
    run = recorded.record(ada, hostile.events())
    Run.objects.filter(pk=run.pk).update(topic=hostile.EVIL, status="failed")
    evil = {"note_type": hostile.EVIL[:32], "member": hostile.EVIL[:64], "tags": [hostile.EVIL]}
    note = note_in(run, hostile.EVIL[:300], hostile.EVIL, **evil)
    for address in addresses(note):
        if address.endswith(".md"):
            continue
        page_text = shown(page.get(address, {"q": "", "tag": hostile.EVIL[:64]}))
        hostile.assert_inert(page_text)
        page_text = shown(page.post(address, fields(title=hostile.EVIL, run="x")))
        if page_text:
            hostile.assert_inert(page_text)


# --- writing -------------------------------------------------------------------------------------
def test_a_note_of_ones_own_is_in_the_log_while_the_research_goes_on(
    page: Client, live: Run
) -> None:
    sent = fields(
        run=live.pk, title=" My\nown ", content="A\r\nB", tags="x, y，z、x", note_type="action"
    )
    response = page.post("/notes/new/", sent, follow=True)
    note = Note.objects.get()
    assert response.redirect_chain == [(f"/notes/{note.pk}/", 302)]
    assert (note.title, note.content, note.note_type) == ("My own", "A\nB", "action")
    assert (note.tags, note.member, note.work) == (["x", "y", "z"], "ada", "")
    joined, event = (json.loads(record.text) for record in log.read_after(live.pk, 40))
    assert (joined["type"], joined["data"]["name"]) == ("member.joined", "ada")
    assert (event["type"], event["source_member"], event["role"]) == (
        "note.saved",
        "ada",
        "human_agent",
    )
    assert event["data"]["content"] == "A\nB" and event["data"]["action"] == "create"


def test_a_change_and_a_deletion_are_in_the_log_while_the_research_goes_on(
    page: Client, live: Run
) -> None:
    note = note_in(live, tags=["keep"])
    page.post(f"/notes/{note.pk}/edit/", fields(content="Better", tags="keep"))
    note.refresh_from_db()
    assert (note.content, note.tags, note.member) == ("Better", ["keep"], "researcher-1")
    page.post(f"/notes/{note.pk}/delete/")
    assert not Note.objects.exists()
    joined, *events = [json.loads(record.text) for record in log.read_after(live.pk, 40)]
    assert joined["type"] == "member.joined"
    assert [event["type"] for event in events] == ["note.saved", "note.deleted"]
    assert events[0]["data"]["action"] == "update"
    assert {event["source_member"] for event in events} == {"ada"}


def test_after_the_end_of_a_research_only_the_row_changes(page: Client, ended: Run) -> None:
    note, head = note_in(ended), ended.stream.head
    page.post(f"/notes/{note.pk}/edit/", fields(content="Better"))
    page.post("/notes/new/", fields(run=ended.pk, title="Later"))
    assert sorted(Note.objects.values_list("title", "content")) == [
        ("A title", "Better"),
        ("Later", "A text"),
    ]
    page.post(f"/notes/{note.pk}/delete/")
    assert [row.title for row in Note.objects.all()] == ["Later"]
    ended.stream.refresh_from_db()
    assert ended.stream.head == head


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"title": " "}, "Give the note a title."),
        ({"content": ""}, "Write something first."),
        ({"title": "字" * 301}, "at most 300 characters"),
        ({"content": "字" * 50_001}, "at most 50000 characters"),
        ({"note_type": "x" * 33}, "Select a valid choice"),
        ({"tags": "x" * 2_001}, "at most 2000 characters"),
    ],
)
def test_what_is_no_note_is_told_and_what_was_written_stays_in_the_form(
    page: Client, ended: Run, changes: dict[str, str], told: str
) -> None:
    note = note_in(ended)
    for address in ("/notes/new/", f"/notes/{note.pk}/edit/"):
        response = page.post(address, fields(run=ended.pk, **changes))
        assert response.status_code == 422
        assert told in shown(response)
        assert "A title" in shown(response) or "A text" in shown(response)
    assert Note.objects.get().content == "A text"


def test_five_megabytes_are_refused_with_a_sentence(page: Client, ended: Run) -> None:
    for size, status in ((2_000_000, 422), (5_000_000, 400)):
        response = page.post("/notes/new/", fields(run=ended.pk, content="x" * size))
        assert response.status_code == status
    assert "<h1>" in shown(response)
    assert not Note.objects.exists()


def test_a_text_of_the_longest_kind_is_kept_exactly(page: Client, live: Run) -> None:
    text = "字\n" * 25_000
    page.post("/notes/new/", fields(run=live.pk, content=text.replace("\n", "\r\n")))
    assert Note.objects.get().content == text.strip()
    assert log.read_after(live.pk, 40)[-1].type == "note.saved"


def test_who_saves_over_a_newer_text_is_asked_first(page: Client, live: Run) -> None:
    note = note_in(live)
    seen = page.get(f"/notes/{note.pk}/edit/").context["form"]["seen"].value()
    apply(live.pk, actions.edit("bob", note.note_id, actions.Written.of("B", "Of Bob")))
    response = page.post(f"/notes/{note.pk}/edit/", fields(content="Mine", seen=seen))
    assert response.status_code == 409
    assert "changed while you wrote" in shown(response) and "Mine" in shown(response)
    assert Note.objects.get().content == "Of Bob"
    again = response.context["form"]["seen"].value()
    page.post(f"/notes/{note.pk}/edit/", fields(content="Mine", seen=again))
    assert Note.objects.get().content == "Mine"


def test_a_run_keeps_no_more_notes_than_its_limit(
    page: Client, live: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MOST", 2)
    for number in range(3):
        response = page.post("/notes/new/", fields(run=live.pk, title=f"{number}"))
    assert response.status_code == 422 and "keeps no more notes" in shown(response)
    assert Note.objects.count() == 2


def test_a_person_who_is_called_as_a_member_is_not_taken_for_it(client: Client, live: Run) -> None:
    Run.objects.filter(pk=live.pk).update(user=User.objects.create_user("leader"))
    client.force_login(User.objects.get(username="leader"))
    client.post("/notes/new/", fields(run=live.pk))
    assert Note.objects.get().member == "leader (person)"
    event = json.loads(log.read_after(live.pk, 40)[-1].text)
    assert event["source_member"] == "leader (person)"


# --- keeping -------------------------------------------------------------------------------------
@pytest.mark.both
def test_notes_are_kept_as_one_file_by_research_with_their_sources(
    page: Client, ended: Run, live: Run
) -> None:
    note_in(ended, "One\n# two", "See [S1:0-4] and [S99].", tags=["t"], note_type="conclusion")
    note_in(live, "回滚", "丢弃")
    response = page.get("/notes/notes.md")
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response["Content-Disposition"].startswith('attachment; filename="notes-')
    text = shown(response)
    assert text.index("### 回滚") < text.index("### One \\# two")  # the newest research first
    assert "Conclusion · researcher-1 · " in text and "· \\#t*" in text
    assert "See [S1:0-4] and [S99]." in text
    assert "- S1: Page 1 \\<script\\>alert(1)\\</script\\> — <https://docs.example/1>" in text
    assert "S99:" not in text and "- S2" not in text
    assert "One" not in shown(page.get(f"/notes/notes.md?run={live.pk}"))


def test_more_notes_than_a_file_holds_are_said_to_be_missing(
    page: Client, ended: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        note_in(ended, f"Note {number}", "x" * 100)
    monkeypatch.setattr("research.views.notes_markdown.MOST", 700)
    text = shown(page.get("/notes/notes.md"))
    assert "Note 0" in text and "Note 8" not in text
    assert "more notes than one file holds" in text
