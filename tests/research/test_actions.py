"""The actions: what they write, what they say, and that each is done once."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from research.actions import plan as plan_actions
from research.actions import runs, tools, works
from research.actions.report import Checked, finish_section, finish_verification
from research.actions.tools import Found, Use
from research.actions.works import Claimed
from research.engine.work import TOPIC_LENGTH, apply, cancel_run, start_run
from research.models import Archive, Citation, Collection, Member, Note, Run, Source, Task, ToolCall
from research.options import RunOptions
from research.team.plan import PlannedTask
from streaming.exceptions import BadRequest, Conflict, Fenced, StreamClosed
from streaming.open_set import open_set

from .conftest import TOPIC, Steps, events_of

pytestmark = [pytest.mark.django_db, pytest.mark.both]
TEXT = "The lens was first used in 1823. In fog there is a horn. 灯塔以光警示船只。"


def use_of(claimed: Claimed, number: int = 1, tool: str = "search") -> Use:
    return Use(f"call_{claimed.name}_{claimed.attempt}_{number}", tool, claimed.voice)


def found(uri: str, text: str | None = None) -> Found:
    archive = None
    if text is not None:
        archive = Archive.objects.get_or_create(
            hash=hashlib.sha256(text.encode()).hexdigest(), defaults={"text": text}
        )[0]
    return Found(uri, f"Title of {uri}", "library", "…", archive.hash if archive else None, None)


def search(steps: Steps, claimed: Claimed, *sources: Found, number: int = 1) -> dict[str, int]:
    """Use the search tool, from its start to its end, and return the numbers of what it found."""
    use = use_of(claimed, number)
    steps.do(tools.start(use, {"query": "q"}), claimed)

    def finish(run: Run) -> Any:
        numbers, said = tools.record_sources(run, use, sources)
        change = tools.finish(run, use, "found", 5, source_ids=[*numbers.values()], before=said)
        change.value = numbers
        return change

    numbers: dict[str, int] = steps.do(finish, claimed)
    return numbers


# --- start -------------------------------------------------------------------------------------
def test_a_start_brings_the_team_together_and_queues_the_plan(steps: Steps) -> None:
    names = ["leader", "researcher-1", "researcher-2", "researcher-3", "writer", "verifier"]
    assert steps.types() == ["run.started", "team.ready", *["member.joined"] * 6]
    events = steps.events()
    assert events[0].data["topic"] == TOPIC
    assert [event.data["name"] for event in events[2:]] == names
    assert all(event.source_member == "leader" and event.role == "leader" for event in events)
    assert list(Member.objects.order_by("pk").values_list("name", flat=True)) == names
    assert steps.queued() == ["plan"]
    assert steps.row().status == "running"


def test_the_number_of_researchers_is_a_choice(user: User) -> None:
    steps = Steps(user, researchers=1)
    names = [e.data["name"] for e in steps.events() if e.type == "member.joined"]
    assert names == ["leader", "researcher-1", "writer", "verifier"]


def test_the_same_key_and_question_give_the_same_run(user: User) -> None:
    first = start_run(user, TOPIC, RunOptions(researchers=2), "k")
    again = start_run(user, f" {TOPIC}\n", RunOptions(researchers=2), "k")
    assert (again.run.pk, first.duplicate, again.duplicate) == (first.run.pk, False, True)
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("topic", "options"), [("Another question", RunOptions()), (TOPIC, RunOptions(researchers=5))]
)
def test_the_same_key_for_something_else_is_refused(
    user: User, topic: str, options: RunOptions
) -> None:
    start_run(user, TOPIC, RunOptions(), "k")
    with pytest.raises(Conflict) as refused:
        start_run(user, topic, options, "k")
    assert refused.value.code == "key_reused"
    assert Run.objects.count() == 1


def test_another_user_has_keys_of_their_own(user: User, rival: User) -> None:
    first, second = start_run(user, TOPIC, None, "k"), start_run(rival, TOPIC, None, "k")
    assert first.run.pk != second.run.pk
    assert not second.duplicate
    assert (first.run.user, second.run.user) == (user, rival)


def test_without_a_key_every_start_is_a_run(user: User) -> None:
    assert start_run(user, TOPIC).run.pk != start_run(user, TOPIC).run.pk


@pytest.mark.parametrize("topic", ["", " \n\t ", "x" * (TOPIC_LENGTH + 1)])
def test_a_question_that_cannot_be_asked_is_refused(user: User, topic: str) -> None:
    with pytest.raises(BadRequest):
        start_run(user, topic)
    assert not Run.objects.exists()


@pytest.mark.parametrize("letter", ["字", "🗼", "\x01"])
def test_the_longest_question_is_taken_in_any_script(user: User, letter: str) -> None:
    run = start_run(user, f"a{letter * (TOPIC_LENGTH - 2)}b").run
    assert events_of(run.pk)[0].data["topic"] == run.topic


def test_what_no_database_takes_is_cleaned_out_of_a_question(user: User) -> None:
    assert start_run(user, "a\0b\ud800c").run.topic == "a\ufffdb\ufffdc"


def test_only_collections_that_one_may_read_can_be_chosen(user: User, rival: User) -> None:
    mine = Collection.objects.create(name="mine", owner=user)
    public = Collection.objects.create(name="public")
    theirs = Collection.objects.create(name="theirs", owner=rival)
    run = start_run(user, TOPIC, RunOptions(collections=["mine", public.pk])).run
    assert run.options["collections"] == [mine.pk, public.pk]
    for chosen in ("theirs", theirs.pk, "none", 10**9):
        with pytest.raises(BadRequest) as refused:
            start_run(user, TOPIC, RunOptions(collections=[chosen]))
        assert refused.value.code == "no_collection"


@pytest.mark.django_db(transaction=True)
def test_of_twenty_starts_at_once_with_one_key_there_is_one_run(user: User) -> None:
    gate = threading.Barrier(20)

    def ask(_: int) -> tuple[Any, bool]:
        try:
            gate.wait(10)
            started = start_run(user, TOPIC, None, "k")
            return started.run.pk, started.duplicate
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(ask, range(20)))
    assert len({run for run, _ in answers}) == 1
    assert sorted(duplicate for _, duplicate in answers) == [False] + [True] * 19
    assert Run.objects.count() == 1


# --- works -------------------------------------------------------------------------------------
def test_a_claim_is_had_once(steps: Steps) -> None:
    claimed = steps.claim("plan")
    assert (claimed.member, claimed.attempt, claimed.voice.work) == ("leader", 1, "plan")
    assert steps.do(works.claim("plan")) is None
    assert steps.do(works.claim("task:1")) is None
    assert steps.types()[-2:] == ["work.started", "member.status"]


def test_work_of_a_run_that_is_being_cancelled_cannot_be_claimed(steps: Steps) -> None:
    cancel_run(steps.id, "ann")
    assert steps.do(works.claim("plan")) is None


def test_a_plan_becomes_tasks_for_those_who_are_free(user: User) -> None:
    steps = Steps(user, researchers=2)
    first, second = steps.plan("One", "Two", "Three")
    assert [t.title for t in Task.objects.order_by("step")] == ["One", "Two", "Three"]
    assert (first.name, first.member) == ("task:1", "researcher-1")
    assert (second.name, second.member) == ("task:2", "researcher-2")
    assert (first.voice.stream_token, first.voice.step, first.voice.task_id) == ("task_1", 1, 1)
    assert Task.objects.get(task_id=3).status == "pending"
    proposed = next(e for e in steps.events() if e.type == "plan.proposed")
    assert [t["title"] for t in proposed.data["tasks"]] == ["One", "Two", "Three"]
    steps.do(plan_actions.finish_task("task:2", "done"), second)
    assert steps.queued() == ["task:3"]
    assert steps.claim("task:3").member == "researcher-2"


def test_a_plan_of_the_longest_tasks_is_still_an_event(steps: Steps) -> None:
    claimed = steps.claim("plan")
    huge = PlannedTask.model_construct(title="🗼" * 300, intent="🗼" * 2000, query="🗼" * 2000)
    steps.do(plan_actions.propose("plan", [huge] * 8), claimed)
    assert len(steps.queued()) == 3


def test_a_task_that_found_something_is_completed_with_its_sources_and_note(steps: Steps) -> None:
    (task,) = steps.plan("One")
    search(steps, task, found("a:1"), found("a:2"))
    note = write_note(steps, task)
    steps.do(plan_actions.finish_task("task:1", "It is so [S1]."), task)
    completed = next(e for e in steps.events() if e.type == "task.completed")
    assert completed.data == {"summary": "It is so [S1].", "source_ids": [1, 2], "note_id": note}
    row = Task.objects.get()
    assert (row.status, row.summary) == ("completed", "It is so [S1].")
    assert steps.queued() == ["write:1"]


@pytest.mark.parametrize(("sources", "noted"), [([], False), ([], True), (["a:1"], False)])
@pytest.mark.parametrize("summary", ["I think so.", "I think so [S9]."])
def test_a_task_without_a_finding_in_a_source_is_skipped(
    steps: Steps, sources: list[str], noted: bool, summary: str
) -> None:
    (task,) = steps.plan("One")
    search(steps, task, *map(found, sources))
    if noted:  # out of its own head
        write_note(steps, task)
    steps.do(plan_actions.finish_task("task:1", summary), task)
    row = Task.objects.get()
    assert (row.status, row.summary) == ("skipped", "")
    assert "task.skipped" in steps.types()
    assert "task.completed" not in steps.types()


def test_a_task_that_failed_leaves_nothing_open_and_frees_its_member(steps: Steps) -> None:
    task, *_others = steps.plan("One", "Two", "Three", "Four")
    steps.do(tools.start(use_of(task), {"query": "q"}), task)
    steps.do(works.fail("task:1", "rate_limited", "Wait."), task)
    events = steps.events()
    mine = [
        (e.type, e.data.get("status"), e.data.get("code")) for e in events if e.work == "task:1"
    ]
    assert mine[-4:] == [
        ("task.failed", None, "rate_limited"),
        ("tool.finished", "interrupted", None),
        ("work.finished", "failed", "rate_limited"),
        ("member.status", "ready", None),
    ]
    assert not open_set([event for event in events if event.work == "task:1"])
    assert Task.objects.get(task_id=1).status == "failed"
    assert steps.run.works.get(name="task:1").error_code == "rate_limited"
    assert steps.queued() == ["task:4"]


def test_a_summary_with_markers_becomes_the_note_of_who_wrote_none(steps: Steps) -> None:
    task, _other = steps.plan("One", "Two")
    search(steps, task, found("a:1"))
    steps.do(plan_actions.finish_task("task:1", "It is old. [S1]"), task)
    note = Note.objects.get(task__task_id=1)
    assert (note.content, note.member) == ("It is old. [S1]", "researcher-1")
    ended = [event for event in steps.events() if event.type == "task.completed"]
    assert [event.data["note_id"] for event in ended] == [note.note_id]


def test_a_task_whose_sources_answer_nothing_is_skipped(steps: Steps) -> None:
    task, _other = steps.plan("One", "Two")
    search(steps, task, found("a:1"))
    steps.do(plan_actions.finish_task("task:1", "It is green. [S99]"), task)
    assert Task.objects.get(task_id=1).status == "skipped"
    assert not Note.objects.exists()


def test_work_that_has_ended_does_not_end_again(steps: Steps) -> None:
    """A commit whose answer was lost arrived nevertheless; the worker then reports a failure."""
    task, other = steps.plan("One", "Two")
    search(steps, task, found("a:1"))
    steps.do(plan_actions.finish_task("task:1", "Yes. [S1]"), task)
    before = steps.types()
    steps.do(works.fail("task:1", "storage", "Lost."), task)
    assert steps.types() == before
    assert Task.objects.get(task_id=1).status == "completed"
    assert steps.run.works.get(name="task:1").status == "completed"
    steps.do(plan_actions.finish_task("task:2", ""), other)
    assert steps.queued() == ["write:1"]


# --- takeover ----------------------------------------------------------------------------------
def test_a_takeover_closes_and_voids_the_attempt_and_queues_its_work(steps: Steps) -> None:
    (task,) = steps.plan("One")
    search(steps, task, found("a:1"))
    write_note(steps, task)
    steps.do(tools.start(use_of(task, 9), {"query": "q"}), task)
    steps.do(works.take_over("task:1"))
    events = steps.events()
    assert [e.type for e in events[-4:]] == [
        "tool.finished", "work.finished", "attempt.discarded", "member.status",
    ]  # fmt: skip
    assert {e.data.get("status") for e in events[-4:-2]} == {"interrupted"}
    assert (events[-2].data["work"], events[-2].data["attempt"]) == ("task:1", 1)
    assert set(open_set(events)) == {("task", "1")}, "the task goes on"
    assert not ToolCall.objects.exists()
    assert not Note.objects.exists()
    assert not Source.objects.exists()
    again = steps.claim("task:1")
    assert (again.attempt, again.member) == (2, "researcher-1")
    assert steps.types().count("task.started") == 1


def test_who_was_taken_over_can_write_no_more(steps: Steps) -> None:
    (task,) = steps.plan("One")
    steps.do(works.take_over("task:1"))
    before = steps.types()
    for action in (
        tools.start(use_of(task), {}),
        plan_actions.finish_task("task:1", "late"),
        works.fail("task:1", "late", "Late."),
    ):
        with pytest.raises(Fenced):
            steps.do(action, task)
    assert steps.types() == before
    assert not ToolCall.objects.exists()
    assert Task.objects.get().status == "in_progress"


def test_a_takeover_of_what_has_ended_changes_nothing(steps: Steps) -> None:
    claimed = steps.claim("plan")
    steps.do(works.fail("plan", "x", "No."), claimed)
    before = steps.types()
    steps.do(works.take_over("plan"))
    assert steps.types() == before


# --- sources -----------------------------------------------------------------------------------
def test_a_source_found_by_two_has_one_number_and_is_told_by_both(steps: Steps) -> None:
    first, second = steps.plan("One", "Two")
    assert search(steps, first, found("a:1"), found("a:2")) == {"a:1": 1, "a:2": 2}
    assert search(steps, second, found("a:2"), found("a:3")) == {"a:2": 2, "a:3": 3}
    assert search(steps, second, found("a:2"), number=2) == {"a:2": 2}
    told = [
        (e.source_member, e.data["source_id"]) for e in steps.events() if e.type == "source.found"
    ]
    assert told == [
        ("researcher-1", 1), ("researcher-1", 2), ("researcher-2", 2), ("researcher-2", 3),
    ]  # fmt: skip
    assert Source.objects.get(source_id=2).finders == [["task:1", 1], ["task:2", 1]]


def test_voiding_one_attempt_keeps_a_source_for_the_other(steps: Steps) -> None:
    first, second = steps.plan("One", "Two")
    search(steps, first, found("a:1"), found("a:2"))
    search(steps, second, found("a:2"))
    steps.do(works.take_over("task:1"))
    assert list(Source.objects.values_list("source_id", "finders")) == [(2, [["task:2", 1]])]


def test_the_number_of_a_source_is_never_used_again(steps: Steps) -> None:
    (first,) = steps.plan("One")
    search(steps, first, found("a:1"), found("a:2"))
    steps.do(works.take_over("task:1"))
    again = steps.claim("task:1")
    assert search(steps, again, found("a:2"), found("a:3")) == {"a:2": 3, "a:3": 4}


# --- notes -------------------------------------------------------------------------------------
def write_note(steps: Steps, claimed: Claimed, number: int = 5) -> int:
    from research.actions import notes

    use = use_of(claimed, number, "note")

    def action(run: Run) -> Any:
        row, said = notes.create(run, use, "T", "C", "general", ["a"])
        return tools.finish(run, use, "", 1, before=said, note_id=row.note_id)

    steps.do(action, claimed)
    return Note.objects.get(tool_call_id=use.tool_call_id).note_id


def test_a_note_is_written_once_for_each_use_of_the_tool(steps: Steps) -> None:
    (task,) = steps.plan("One")
    assert write_note(steps, task) == write_note(steps, task) == 1
    assert write_note(steps, task, number=6) == 2
    assert steps.types().count("note.saved") == 2
    note = Note.objects.get(note_id=1)
    assert (note.member, note.work, note.attempt) == ("researcher-1", "task:1", 1)
    assert note.task == Task.objects.get()


def test_the_number_of_a_note_is_never_used_again(steps: Steps) -> None:
    (task,) = steps.plan("One")
    write_note(steps, task)
    steps.do(works.take_over("task:1"))
    assert write_note(steps, steps.claim("task:1")) == 2


# --- the report --------------------------------------------------------------------------------
@pytest.fixture
def section(steps: Steps) -> Callable[[str], str]:
    """Write the first section: S1 has a text, S2 has a link in it, S3 has none."""
    (task,) = steps.plan("One")
    search(
        steps,
        task,
        found("a:1", TEXT),
        found("a:2", "See [the site](https://known.example/a) or https://known.example/b there."),
        found("a:3"),
    )
    steps.do(plan_actions.finish_task("task:1", "Yes. [S1]"), task)
    writer = steps.claim("write:1")

    def write(text: str) -> str:
        steps.do(finish_section("write:1", "lead", "In short", text), writer)
        output: dict[str, Any] = steps.run.works.get(name="write:1").output
        text_written: str = output["text"]
        return text_written

    return write


def told(steps: Steps) -> dict[str, Any]:
    return next(e.data for e in steps.events() if e.type == "report.section")


def test_markers_become_numbers_tied_to_what_the_source_says(
    steps: Steps, section: Callable[[str], str]
) -> None:
    assert (
        section("It is old [S1:0-32]. There is more. [S3]") == "It is old [1]. There is more. [2]"
    )
    first, second = Citation.objects.order_by("number")
    assert (first.source.source_id, first.start, first.end) == (1, 0, 32)
    assert first.quote == TEXT[0:32] == "The lens was first used in 1823."
    assert first.claim == "It is old"
    assert first.archive_hash == hashlib.sha256(TEXT.encode()).hexdigest()
    assert first.member == "researcher-1"
    assert (second.source.source_id, second.start, second.quote) == (3, None, "")
    assert told(steps)["citations"] == [
        {"number": 1, "source_id": 1, "start": 0, "end": 32},
        {"number": 2, "source_id": 3},
    ]
    assert "stripped" not in told(steps) or told(steps)["stripped"] == []


def test_offsets_count_code_points(section: Callable[[str], str]) -> None:
    at = TEXT.index("灯塔")
    section(f"光。[S1:{at}-{len(TEXT)}]")
    assert Citation.objects.get().quote == "灯塔以光警示船只。"


def test_the_same_passage_has_the_same_number(section: Callable[[str], str]) -> None:
    assert (
        section("A [S1:0-32]. B [S1:33-56]. C [S1:0-32]. D [S1].") == "A [1]. B [2]. C [1]. D [3]."
    )
    assert Citation.objects.count() == 3


def test_markers_side_by_side_belong_to_one_claim(section: Callable[[str], str]) -> None:
    section("First. [S1:0-32]\n- It flashes. [S1:33-56][S3]")
    claims = list(Citation.objects.order_by("number").values_list("claim", flat=True))
    assert claims == ["First.", "It flashes.", "It flashes."]


def test_a_claim_is_the_sentence_before_its_marker(section: Callable[[str], str]) -> None:
    section("One is so [S1:0-32]. Two is so [S1:33-56].")
    claims = list(Citation.objects.order_by("number").values_list("claim", flat=True))
    assert claims == ["One is so", "Two is so"]


@pytest.mark.parametrize(
    "offsets", ["0-0", "9-3", "0-9999999", f"{len(TEXT)}-{len(TEXT) + 1}", "9999999998-9999999999"]
)
def test_offsets_that_are_no_place_in_the_source_lead_to_its_whole(
    section: Callable[[str], str], offsets: str
) -> None:
    assert section(f"A [S1:{offsets}].") == "A [1]."
    row = Citation.objects.get()
    assert (row.start, row.end, row.quote) == (None, None, "")


def test_a_marker_of_no_source_is_taken_out_and_told(
    steps: Steps, section: Callable[[str], str]
) -> None:
    written = section("A [S99]. B [S0:1-2]. C [S1].")
    assert "S99" not in written and "S0" not in written
    assert "[1]" in written
    assert told(steps)["stripped"] == ["[S99]", "[S0:1-2]"]


def test_a_source_of_another_run_cannot_be_cited(
    user: User, rival: User, section: Callable[[str], str]
) -> None:
    other = Steps(rival)
    (task,) = other.plan("Theirs")
    search(other, task, *(found(f"b:{n}") for n in range(9)))
    assert "[" not in section("A [S8].")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("See [here](https://evil.example/x) [S1].", "See here [1]."),
        ("See ![here](https://evil.example/x.png) [S1].", "See here [1]."),
        ("See [here](javascript:alert(1)) [S1].", "See here [1]."),
        ("See [here](https://evil.example/a_(b)) [S1].", "See here [1]."),
        ('See [here](https://evil.example "title") [S1].', "See here [1]."),
        ("See [here](//evil.example) [S1].", "See here [1]."),
        ("See https://evil.example/x [S1].", "See  [1]."),
        ("See HTTPS://EVIL.EXAMPLE/x [S1].", "See  [1]."),
        ("See <http://evil.example/x> [S1].", "See  [1]."),
        ("See ftp://evil.example/x [S1].", "See  [1]."),
        ("See www.evil.example/x [S1].", "See  [1]."),
    ],
)
def test_a_link_that_no_cited_source_has_is_taken_out_and_told(
    steps: Steps, section: Callable[[str], str], text: str, kept: str
) -> None:
    written = section(text)
    assert written == kept
    assert len(told(steps)["stripped"]) == 1


def test_a_link_in_a_cited_source_stays(steps: Steps, section: Callable[[str], str]) -> None:
    text = "See [the site](https://known.example/a) or https://known.example/b there."
    assert section(f"{text} [S2]") == f"{text} [1]"
    assert told(steps).get("stripped", []) == []


def test_the_same_link_is_taken_out_where_that_source_is_not_cited(
    section: Callable[[str], str],
) -> None:
    assert "known.example" not in section("See https://known.example/b there. [S1]")


def test_a_number_that_the_model_made_up_is_no_citation(
    steps: Steps, section: Callable[[str], str]
) -> None:
    """Models that were taught to cite write `[1]`; here it would lead to a source at random."""
    written = section("A [S1:0-32]. B [1]. C [12].")
    assert written == "A [1]. B . C ."
    assert told(steps)["stripped"] == ["[1]", "[12]"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Take `row[1]` [S1:0-32].", "Take `row[1]` [1]."),
        ("```\nrow [1]\n```\nSo [S1:0-32].", "```\nrow [1]\n```\nSo [1]."),
        ("Take row[1] [S1:0-32].", "Take row\\[1] [1]."),
    ],
)
def test_a_number_in_code_is_neither_a_citation_nor_taken_out(
    steps: Steps, section: Callable[[str], str], text: str, kept: str
) -> None:
    assert section(text) == kept
    assert told(steps).get("stripped", []) == []


def test_a_footnote_of_a_quoted_source_stays_and_cites_nothing(steps: Steps) -> None:
    (task,) = steps.plan("One")
    search(steps, task, found("a:1", "It was lit in 1823.[3] Then came oil. [4] Then gas."))
    steps.do(plan_actions.finish_task("task:1", "Yes. [S1]"), task)
    writer = steps.claim("write:1")
    text = "It was lit in 1823.[3] [S1:0-22] Then came oil. [4] [S1:23-42]"
    steps.do(finish_section("write:1", "lead", "In short", text), writer)
    assert told(steps)["text"] == "It was lit in 1823.\\[3] [1] Then came oil. \\[4] [2]"
    claims = list(Citation.objects.order_by("number").values_list("claim", flat=True))
    assert claims == ["It was lit in 1823.[3]", "Then came oil. [4]"]


def test_a_section_of_nothing_but_links_is_still_an_event(
    steps: Steps, section: Callable[[str], str]
) -> None:
    links = " ".join(f"https://evil.example/{n}/{'x' * 1900}" for n in range(60))
    assert section(f"So. {links} [S1]").split() == ["So.", "[1]"]
    assert 0 < len(told(steps)["stripped"]) <= 50


def test_what_no_database_takes_is_cleaned_out_of_a_section(section: Callable[[str], str]) -> None:
    assert section("A\0 B\ud800 [S1:0-32].") == "A\ufffd B\ufffd [1]."


def test_numbers_go_on_from_section_to_section(steps: Steps, section: Callable[[str], str]) -> None:
    section("A [S1:0-32].")
    steps.do(finish_section("write:2", "task", "One", "B [S1:0-32]."), steps.claim("write:2"))
    numbers = Citation.objects.order_by("number").values_list("number", "section")
    assert list(numbers) == [(1, 1), (2, 2)]
    assert runs.report_markdown(steps.row()) == "A [1].\n\n## One\n\nB [2]."


def test_verdicts_are_written_down_and_told_with_who_brought_the_source(
    steps: Steps, section: Callable[[str], str]
) -> None:
    section("A [S1:0-32]. B [S3].")
    steps.do(finish_section("write:2", "task", "One", "B."), steps.claim("write:2"))
    verifier = steps.claim("verify")
    checked = [
        Checked(1, "supported", "quote", TEXT[:32], 0, 32),
        Checked(2, "not_found", "no_text", "", None, None),
        Checked(77, "supported", "no such citation", "", None, None),
    ]
    steps.do(finish_verification("verify", checked), verifier)
    assert list(Citation.objects.order_by("number").values_list("verdict", flat=True)) == [
        "supported", "not_found",
    ]  # fmt: skip
    said = [e.data for e in steps.events() if e.type == "citation.checked"]
    assert [(d["number"], d["verdict"], d["brought_by"]) for d in said] == [
        (1, "supported", "researcher-1"), (2, "not_found", "researcher-1"),
    ]  # fmt: skip
    types = steps.types()
    assert types[-3:] == ["report.completed", "team.completed", "run.completed"]
    row = steps.row()
    assert (row.status, row.ended_at is not None) == ("completed", True)
    assert not open_set(steps.events())


# --- ends --------------------------------------------------------------------------------------
def test_nothing_is_written_after_the_end(steps: Steps) -> None:
    claimed = steps.claim("plan")
    cancel_run(steps.id, "ann")
    steps.do(runs.finish_cancel)
    before = steps.types()
    assert before[-1] == "run.cancelled"
    with pytest.raises(StreamClosed):
        steps.do(tools.start(use_of(claimed), {}), claimed)
    steps.do(runs.finish_cancel)
    assert cancel_run(steps.id, "ann").value == "cancelled"
    assert steps.types() == before
    assert not ToolCall.objects.exists()


def test_a_cancel_closes_whatever_is_open(steps: Steps) -> None:
    first, _second = steps.plan("One", "Two")
    steps.do(tools.start(use_of(first), {"query": "q"}), first)
    applied = cancel_run(steps.id, "ann")
    assert applied.seq == len(steps.events())
    assert (steps.types()[-1], steps.row().status) == ("run.cancelling", "cancelling")
    assert cancel_run(steps.id, "ann").value == "cancelling"
    assert steps.types().count("run.cancelling") == 1
    steps.do(runs.finish_cancel)
    events = steps.events()
    assert not open_set(events)
    assert [e.type for e in events].count("task.cancelled") == 2
    assert set(steps.run.works.values_list("status", flat=True)) == {"completed", "cancelled"}
    assert set(Task.objects.values_list("status", flat=True)) == {"cancelled"}
    assert steps.row().status == "cancelled"


def test_a_run_whose_plan_failed_says_why(steps: Steps) -> None:
    claimed = steps.claim("plan")
    steps.do(works.fail("plan", "provider_auth", "The key is refused."), claimed)
    last = steps.events()[-1]
    assert (last.type, last.data["code"]) == ("run.failed", "provider_auth")
    assert last.data["message"] == "The key is refused."
    row = steps.row()
    assert (row.status, row.error_code) == ("failed", "provider_auth")
    assert row.error_message == last.data["message"]


def test_a_report_that_cannot_be_written_says_why(steps: Steps) -> None:
    (task,) = steps.plan("One")
    steps.do(plan_actions.finish_task("task:1", ""), task)
    steps.do(works.fail("write:1", "rate_limited", "Wait."), steps.claim("write:1"))
    last = steps.events()[-1]
    assert (last.type, last.data["code"], last.data["message"]) == (
        "run.failed", "rate_limited", "Wait.",
    )  # fmt: skip


def test_an_action_that_breaks_leaves_no_row_and_no_event(steps: Steps) -> None:
    before = steps.types()

    def action(run: Run) -> Any:
        Note.objects.create(
            run=run, note_id=1, member="x", work="", attempt=0, title="", content=""
        )
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError):
        steps.do(action)
    assert steps.types() == before
    assert not Note.objects.exists()


# --- side by side ------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("round", range(3))
def test_two_tasks_that_end_together_release_the_writer_once(user: User, round: int) -> None:
    steps = Steps(user)
    claims = steps.plan("One", "Two", "Three")
    gate = threading.Barrier(len(claims))

    def finish(claimed: Claimed) -> None:
        try:
            gate.wait(10)
            apply(steps.id, plan_actions.finish_task(claimed.name, ""), claimed.claim)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(claims)) as pool:
        list(pool.map(finish, claims))
    assert steps.queued() == ["write:1"]
    events = steps.events()
    assert [e.seq for e in events] == list(range(1, len(events) + 1))
    assert [e.type for e in events].count("task.skipped") == 3
    assert not open_set(events)


@pytest.mark.django_db(transaction=True)
def test_of_eight_who_claim_at_once_one_has_the_work(user: User) -> None:
    steps = Steps(user)
    gate = threading.Barrier(8)

    def take(_: int) -> Any:
        try:
            gate.wait(10)
            return apply(steps.id, works.claim("plan")).value
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        claims = [claimed for claimed in pool.map(take, range(8)) if claimed]
    assert len(claims) == 1
    assert steps.types().count("work.started") == 1
