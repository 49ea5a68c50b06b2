"""Runs through the house: to their end, cancelled, failing, taken over."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError

from research.actions import runs, works
from research.actions.runs import report_markdown
from research.engine import epoch, local, offline
from research.engine.boot import House
from research.engine.work import cancel_run
from research.fold import load
from research.models import Citation, Collection, Note, Run, Source, Task, ToolCall, Work
from research.text.markers import NOTHING_TO_ADD
from streaming import log
from streaming.events import TERMINAL, Event
from streaming.exceptions import EventTooLarge
from streaming.open_set import ENDS, open_set

from .conftest import TOPIC, Lab, Steps
from .scripts import TASKS, Script, rules

pytestmark = [pytest.mark.django_db(transaction=True)]


def check(run: Run, events: list[Event], status: str) -> None:
    """Fail unless the run has ended so, once, last, with nothing open and everything attributed."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.type for event in events if event.type in TERMINAL] == [events[-1].type]
    assert TERMINAL[events[-1].type] == run.status == status
    assert not open_set(events)
    assert set(ends_of(events).values()) <= {1}
    members = {event.data["name"]: event for event in events if event.type == "member.joined"}
    for event in events:
        assert event.source_member in members
        assert event.role == members[event.source_member].data["role"]
        if event.work:
            assert event.attempt
        if event.work and event.work.startswith("task:"):
            number = int(event.work.removeprefix("task:"))
            lane = (event.stream_token, event.task_id, event.step)
            assert lane == (f"task_{number}", number, number)
    started = [event for event in events if event.type == "work.started"]
    assert all(event.source_member == event.data["member"] for event in started)
    busy: dict[str, str] = {}
    for event in events:  # a member speaks for one work at a time
        name = event.source_member or ""
        if event.type == "work.started":
            assert busy.setdefault(name, event.work or "") == event.work
        elif event.type == "work.finished":
            busy.pop(name)


def ends_of(events: list[Event]) -> Counter[tuple[str, str]]:
    """Return how often each start was ended."""
    ids = ("agent_id", "llm_id", "message_id", "tool_call_id")
    return Counter(
        (
            event.type,
            f"{event.work}#{event.attempt}"
            if event.type == "work.finished"
            else next((str(event.data[key]) for key in ids[1:] if key in event.data), "")
            or event.agent_id
            or "",
        )
        for event in events
        if event.type in ENDS and not event.type.startswith("task.")
    )


def of(events: list[Event], *types: str) -> list[Event]:
    return [event for event in events if event.type in types]


def in_work(work: str, *types: str) -> Callable[[list[Event]], bool]:
    """Tell whether a work has said something of these types."""
    return lambda events: any(e.work == work and e.type in types for e in events)


def works_of(run_id: UUID) -> dict[str, str]:
    return dict(Work.objects.filter(run_id=run_id).values_list("name", "status"))


# --- to the end --------------------------------------------------------------------------------
@pytest.mark.both
async def test_a_keyless_run_ends_with_a_report_of_true_quotes(
    collection: Collection, lab: Lab
) -> None:
    run, events = await lab.research()
    check(run, events, "completed")
    (ended,) = of(events, "run.completed")
    assert not ended.data["partial"]
    (report,) = of(events, "report.completed")
    assert report.data["text"] == await lab.db(report_markdown, run)

    def cited() -> list[Citation]:
        return list(Citation.objects.filter(run=run).select_related("source__archive"))

    citations = await lab.db(cited)
    assert citations
    for citation in citations:
        archive = citation.source.archive
        assert archive and citation.start is not None
        assert citation.archive_hash == archive.hash
        assert citation.quote == archive.text[citation.start : citation.end] != ""
        assert f"[{citation.number}]" in report.data["text"]
    told = {event.data["number"]: event.data for event in of(events, "citation.checked")}
    assert set(told) == {citation.number for citation in citations}
    assert {event.data["source_id"] for event in of(events, "source.found")} >= {
        citation.source.source_id for citation in citations
    }
    assert "lamp" in report.data["text"]


async def test_what_was_streamed_is_what_was_completed(collection: Collection, lab: Lab) -> None:
    run, events = await lab.research()
    texts: dict[str, str] = {}
    for event in of(events, "message.delta"):
        texts[event.data["message_id"]] = (
            texts.get(event.data["message_id"], "") + event.data["delta"]
        )
    completed = {e.data["message_id"]: e.data["text"] for e in of(events, "message.completed")}
    assert completed == texts
    assert len(completed) > 3
    sections = {
        event.data["section"]: completed[event.data["message_id"]].strip()
        for event in of(events, "message.started")
        if event.data["kind"] == "section"
    }
    rows = await lab.db(lambda: list(Work.objects.filter(run=run, name__startswith="write:")))
    assert sections
    written = {row.output["section"]: row.output["marked"] for row in rows}
    published = {event.data["section"] for event in of(events, "report.section")}
    for section, text in sections.items():
        assert written[section] == ("" if text == NOTHING_TO_ADD else text)
        assert (section in published) == (text != NOTHING_TO_ADD)


async def test_a_run_that_finds_nothing_says_so_and_invents_nothing(lab: Lab, user: User) -> None:
    run, events = await lab.research()
    check(run, events, "completed")
    assert not of(events, "source.found", "citation.checked", "task.completed")
    tasks = of(events, "task.skipped")
    assert tasks
    (ended,) = of(events, "run.completed")
    assert ended.data["gaps"] == sorted(event.task_id or 0 for event in tasks)
    (report,) = of(events, "report.completed")
    assert report.data["text"] == "No source was found that answers this question."
    writer = [event for event in events if event.source_member == "writer"]
    assert not of(writer, "llm.started")


async def test_a_model_that_notes_what_no_source_says_is_not_asked_to_write_it(
    script: Script, lab: Lab
) -> None:
    note = {"action": "create", "title": "T", "content": "I know it by heart."}
    made_up = [{"tool": "note", "args": note}]
    known = {"name": "made up", "when": {"tools": ["note"], "turn": 2}, "reply": made_up}
    script.play([known, *rules()])
    run, events = await lab.research()
    check(run, events, "completed")
    assert len(of(events, "note.saved")) == 2
    assert not of(events, "task.completed")
    (report,) = of(events, "report.completed")
    assert report.data["text"] == "No source was found that answers this question."
    assert not script.rules_called("started")["write"]


async def test_the_answer_to_a_chinese_question_is_chinese(lab: Lab) -> None:
    run, events = await lab.research("灯塔如何警示船只？")
    (report,) = of(events, "report.completed")
    assert run.language == "zh"
    assert not report.data["text"].isascii()


async def test_many_runs_side_by_side_do_not_mix(
    collection: Collection, script: Script, lab: Lab
) -> None:
    script.play(rules(0.002))
    asked = [await lab.ask(f"{TOPIC} {n}") for n in range(6)]
    ended = [await lab.end(run_id) for run_id in asked]
    for number, (run, events) in enumerate(ended):
        check(run, events, "completed")
        assert events[0].data["topic"] == f"{TOPIC} {number}"
    assert script.rules_called()["plan"] == 6


async def test_more_tasks_than_researchers_take_turns(
    collection: Collection, script: Script, lab: Lab
) -> None:
    tasks = [{**TASKS[n % 2], "title": f"Part {n}"} for n in range(5)]
    script.play(rules(0.001, tasks))
    run, events = await lab.research(researchers=2)
    check(run, events, "completed")
    open_tasks, most = 0, 0
    for event in events:
        open_tasks += (event.type == "task.started") - (event.type == "task.completed")
        most = max(most, open_tasks)
    assert most == 2
    assert len(of(events, "task.completed")) == 5


async def test_a_command_gets_the_report(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    report = await offline.research_once(TOPIC, user, [collection.pk], lab.house)
    assert report.startswith(("In fog a lighthouse", "A keeper of a lighthouse"))
    assert "warns ships with a horn. [2]\n" in report


async def test_a_command_is_told_of_a_run_that_failed(script: Script, lab: Lab, user: User) -> None:
    script.play([{"name": "plan", "reply": [{"fault": "http", "status": 401}]}])
    with pytest.raises(offline.RunFailed, match="refuses the key"):
        await offline.research_once(TOPIC, user, None, lab.house)


RULE_OF = {"plan": "plan", "task:1": "summary", "write:1": "write"}


# --- cancel ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("work", "open_types"),
    [
        ("plan", ("reasoning.delta",)),
        ("task:1", ("message.delta",)),
        ("write:1", ("message.delta",)),
    ],
)
async def test_a_cancel_stops_the_run_in_two_seconds_and_keeps_its_text(
    collection: Collection, script: Script, lab: Lab, work: str, open_types: tuple[str, ...]
) -> None:
    slow = rules(0.01)
    for rule in slow:
        for step in rule["reply"]:
            if rule["name"] == RULE_OF[work] and "delay" in step:
                step |= {"delay": 0.03, "times": 500}
    script.play(slow)
    run_id = await lab.ask()

    def speaks(events: list[Event]) -> bool:
        said = [e for e in events if e.work == work and e.type in open_types]
        return any(len(of(said, *open_types)) >= 3 for _ in said) and bool(
            set(open_set(events)) & {("message", e.data["message_id"]) for e in said}
            | set(open_set(events)) & {("reasoning", e.data["message_id"]) for e in said}
        )

    await lab.until(run_id, speaks)
    asked = time.monotonic()
    applied = await lab.db(cancel_run, run_id, "ann")
    run, events = await lab.end(run_id)
    assert time.monotonic() - asked < 2
    check(run, events, "cancelled")
    (cancelling,) = of(events, "run.cancelling")
    assert (cancelling.seq, cancelling.data["by"]) == (applied.seq, "ann")
    said = [e for e in events if e.work == work and e.type == open_types[0]]
    message_id = said[-1].data["message_id"]
    text = "".join(e.data["delta"] for e in said if e.data["message_id"] == message_id)
    (kept,) = [
        e
        for e in of(events, "message.completed", "reasoning.completed")
        if e.data["message_id"] == message_id
    ]
    assert (kept.data["text"], kept.data["status"]) == (text, "cancelled")
    assert text
    await asyncio.sleep(0.3)
    assert await lab.events(run_id) == events
    assert "running" not in (await lab.db(works_of, run_id)).values()
    names = [task.get_name() for task in asyncio.all_tasks()]
    assert not [name for name in names if str(run_id) in name]
    assert sum(script.calls("cancelled").values()) >= 1
    state = await lab.db(load, run_id)
    assert {card.status for card in state.members.values()} == {"stopped"}
    assert {card.activity for card in state.members.values()} == {""}


async def test_what_was_said_just_before_a_cancel_is_kept(
    collection: Collection, script: Script, lab: Lab, settings: Any
) -> None:
    """Text waits a moment for company; a cancel in that moment must not lose it."""
    said = [{"text": ["kept "]}, {"wait": 0.0}, {"text": ["too"]}, {"fault": "hang"}]
    script.play([{"name": "plan", "reply": said}])
    lab.house.runtime.conf = _with(lab.house.runtime.conf, merge_ms=60_000)
    run_id = await lab.ask()
    await lab.until(run_id, in_work("plan", "message.started"))
    await asyncio.sleep(0.1)
    await lab.db(cancel_run, run_id, "ann")
    _, events = await lab.end(run_id)
    texts = [e.data["text"] for e in of(events, "message.completed")]
    assert "".join(texts) == "kept too"


def _with(conf: Any, **changes: Any) -> Any:
    from dataclasses import replace

    return replace(conf, **changes)


async def test_a_run_that_has_ended_is_not_cancelled(script: Script, lab: Lab) -> None:
    run, events = await lab.research()
    applied = await lab.db(cancel_run, run.pk, "ann")
    assert applied.value == "completed"
    assert await lab.events(run.pk) == events


async def test_a_cancel_before_the_plan_begins_ends_the_run(
    script: Script, user: User, data_dir: Any, lab: Lab
) -> None:
    await lab.house.engine.stop()
    run_id = await lab.ask()
    await lab.db(cancel_run, run_id, "ann")
    await lab.house.engine.start()
    run, events = await lab.end(run_id)
    check(run, events, "cancelled")
    assert not of(events, "work.started")
    assert not script.calls("started")


async def test_a_cancelled_run_leaves_the_others_alone(
    collection: Collection, script: Script, lab: Lab
) -> None:
    script.play(rules(0.01))
    first, second = await lab.ask(), await lab.ask()
    await lab.until(first, in_work("task:1", "work.started"))
    await lab.db(cancel_run, first, "ann")
    check(*await lab.end(first), "cancelled")
    check(*await lab.end(second), "completed")


# --- failures ----------------------------------------------------------------------------------
FAULTS = [
    ([{"fault": "http", "status": 401}], "provider_auth"),
    ([{"fault": "http", "status": 429}], "rate_limited"),
    ([{"fault": "http", "status": 500}], "provider_error"),
    ([{"fault": "cut"}], "model_unreachable"),
    ([{"text": "half "}, {"fault": "cut"}], "model_unreachable"),
    ([{"fault": "empty"}], "bad_model_output"),
    ([{"tool": "nonsense", "args": {}}], "bad_model_output"),
]


def second_task(rule: str, reply: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a rule for the second task, and for what is asked again without a task."""
    pattern = r'<task id="2">|^(?![\s\S]*<task)'
    return {"name": rule, "when": {"tools": ["note"], "pattern": pattern}, "reply": reply}


@pytest.mark.parametrize(("reply", "code"), FAULTS)
async def test_a_task_whose_model_fails_is_a_gap(
    collection: Collection, script: Script, lab: Lab, reply: list[dict[str, Any]], code: str
) -> None:
    script.play([second_task("fails", reply), *rules()])
    run, events = await lab.research()
    check(run, events, "completed")
    (failed,) = of(events, "task.failed")
    assert (failed.task_id, failed.data["code"]) == (2, code)
    (ended,) = of(events, "run.completed")
    assert (ended.data["gaps"], ended.data["partial"]) == ([2], True)
    assert [e.data["section"] for e in of(events, "report.section")] == [1, 2]
    finished = {e.work: e.data for e in of(events, "work.finished")}
    assert (finished["task:2"]["status"], finished["task:2"]["code"]) == ("failed", code)


@pytest.mark.parametrize(("reply", "code"), FAULTS[:4])
async def test_a_model_that_cannot_be_asked_for_a_plan_fails_the_run_and_says_why(
    script: Script, lab: Lab, reply: list[dict[str, Any]], code: str
) -> None:
    script.play([{"name": "plan", "reply": reply}])
    run, events = await lab.research()
    check(run, events, "failed")
    assert (events[-1].data["code"], run.error_code) == (code, code)
    assert run.error_message == events[-1].data["message"] != ""


@pytest.mark.parametrize(
    "reply", [[{"text": "Just words."}], [{"output": {"tasks": []}}], [{"output": {"plan": 1}}]]
)
async def test_a_plan_that_cannot_be_read_becomes_one_task(
    collection: Collection, script: Script, lab: Lab, reply: list[dict[str, Any]]
) -> None:
    script.play([{"name": "bad", "when": {"output": True}, "reply": reply}, *rules()[1:]])
    run, events = await lab.research()
    check(run, events, "completed")
    (proposed,) = of(events, "plan.proposed")
    assert [task["title"] for task in proposed.data["tasks"]] == [TOPIC]
    assert [e.data["code"] for e in of(events, "error.shown")] == ["bad_plan"]


async def test_where_no_section_can_be_written_the_run_fails_and_says_why(
    collection: Collection, script: Script, lab: Lab
) -> None:
    script.play([*rules()[:-1], {"name": "write", "reply": [{"fault": "http", "status": 429}]}])
    run, events = await lab.research()
    check(run, events, "failed")
    assert run.error_code == "rate_limited"


async def test_a_bug_fails_its_work_and_is_told_by_a_number_only(
    collection: Collection, script: Script, lab: Lab, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def broken(*args: Any) -> Any:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("research.team.verifier._check", broken)
    run, events = await lab.research()
    check(run, events, "completed")
    assert events[-1].data["partial"]
    finished = {e.work: e.data for e in of(events, "work.finished")}
    assert finished["verify"]["code"] == "internal"
    assert "secret detail" not in str(events)
    number = finished["verify"]["message"].split("(")[1].split(")")[0]
    assert number in caplog.text and "secret detail" in caplog.text


async def test_a_tool_that_breaks_fails_its_task_and_shows_no_detail(
    collection: Collection, script: Script, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*args: Any) -> Any:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("research.tools.search.library.LibrarySearch.search", broken)
    run, events = await lab.research()
    check(run, events, "failed")
    assert run.error_code == "internal"
    assert {e.data["code"] for e in of(events, "tool.finished")} == {"internal"}
    assert {e.data["code"] for e in of(events, "task.failed")} == {"internal"}
    assert "secret detail" not in str(events)


# --- storage -----------------------------------------------------------------------------------
async def test_words_that_cannot_be_written_down_stop_the_work_typed(
    collection: Collection, script: Script, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, broken = log.Appender.add, []

    def fussy(self: Any, drafts: Any, claim: Any = None) -> None:
        if any(d.type == "message.started" and d.voice.work == "task:2" for d in drafts):
            broken.append(claim)
            raise EventTooLarge
        add(self, drafts, claim)

    monkeypatch.setattr(log.Appender, "add", fussy)
    run, events = await lab.research()
    check(run, events, "completed")
    assert broken
    (failed,) = of(events, "task.failed")
    assert (failed.task_id, failed.data["code"]) == (2, "event_too_large")
    assert events[-1].data["gaps"] == [2]


async def test_a_log_that_takes_nothing_any_more_stops_the_work_typed(
    collection: Collection, script: Script, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.house.runtime.writer.conf = _with(lab.house.runtime.writer.conf, retry_s=0.3)
    add, tries = log.Appender.add, Counter[str]()

    def stuck(self: Any, drafts: Any, claim: Any = None) -> None:
        if any(d.type == "message.started" and d.voice.work == "task:2" for d in drafts):
            tries["n"] += 1
            raise OperationalError("database or disk is full")
        add(self, drafts, claim)

    monkeypatch.setattr(log.Appender, "add", stuck)
    run, events = await lab.research()
    check(run, events, "completed")
    assert tries["n"] > 1, "what may pass is tried again"
    (failed,) = of(events, "task.failed")
    assert (failed.task_id, failed.data["code"]) == (2, "storage")
    assert (events[-1].data["gaps"], events[-1].data["partial"]) == ([2], True)


async def test_an_engine_that_stumbles_looks_again(
    collection: Collection, script: Script, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    due, failures = local._due, Counter[str]()

    def moody() -> Any:
        failures["n"] += 1
        if failures["n"] <= 2:
            raise OperationalError("the database is away")
        return due()

    monkeypatch.setattr(local, "_due", moody)
    run, events = await lab.research()
    check(run, events, "completed")
    assert failures["n"] > 2


async def test_a_run_that_cannot_be_taken_over_keeps_no_other_from_going_on(
    collection: Collection, script: Script, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.play(rules(0.02))
    broken, healthy = await lab.ask(), await lab.ask()
    for run_id in (broken, healthy):
        await lab.until(run_id, in_work("plan", "reasoning.delta"))
    await lab.house.engine.stop()
    take_over = works.take_over

    def refuse(name: str) -> Any:
        action = take_over(name)

        def guarded(run: Run) -> Any:
            if run.pk == broken:
                raise RuntimeError("broken log")
            return action(run)

        return guarded

    monkeypatch.setattr(works, "take_over", refuse)
    await lab.house.engine.start()
    check(*await lab.end(healthy), "completed")


async def test_a_database_that_comes_back_in_time_is_not_noticed(
    collection: Collection, script: Script, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, failures = log.Appender.save, Counter[str]()

    def moody(self: Any) -> None:
        if failures["n"] < 3:
            failures["n"] += 1
            raise OperationalError("the database is locked")
        save(self)

    run_id = await lab.ask()
    monkeypatch.setattr(log.Appender, "save", moody)
    run, events = await lab.end(run_id)
    check(run, events, "completed")
    assert failures["n"] == 3


async def test_work_that_a_full_disk_left_without_an_end_is_done_when_there_is_room(
    collection: Collection, script: Script, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.house.runtime.writer.conf = _with(lab.house.runtime.writer.conf, retry_s=0.2)
    full = asyncio.Event()
    save = log.Appender.save

    def on_disk(self: Any) -> None:
        if full.is_set():
            raise OperationalError("database or disk is full")
        save(self)

    monkeypatch.setattr(log.Appender, "save", on_disk)
    script.play(rules(0.01))
    run_id = await lab.ask()
    await lab.until(run_id, in_work("task:1", "message.delta"))
    full.set()
    await asyncio.sleep(4)  # long enough for whoever spoke to give up
    assert not of(await lab.events(run_id), "run.completed", "run.failed")
    full.clear()
    run, events = await lab.end(run_id)
    check(run, events, "completed")


# --- takeover ----------------------------------------------------------------------------------
@pytest.mark.both
@pytest.mark.parametrize("work", ["plan", "task:1", "write:2"])
async def test_another_house_goes_on_where_the_first_one_stopped(
    collection: Collection, script: Script, lab: Lab, work: str
) -> None:
    script.play(rules(0.02))
    run_id = await lab.ask()
    spoken = ("reasoning.delta",) if work == "plan" else ("message.delta",)
    await lab.until(run_id, in_work(work, *spoken))
    await lab.house.engine.stop()
    before = await lab.events(run_id)
    states = await lab.db(works_of, run_id)
    left = {name for name, status in states.items() if status == "running"}
    done = {name for name, status in states.items() if status == "completed"}
    assert work in left
    begun = Counter(event.work for event in before if event.type == "llm.started")
    other = House()
    await other.start()
    try:
        run, events = await lab.end(run_id)
    finally:
        await other.stop()
    check(run, events, "completed")
    assert events[: len(before)] == before
    voided = {(e.data["work"], e.data["attempt"]) for e in of(events, "attempt.discarded")}
    assert voided == {(name, 1) for name in left}
    again = Counter(event.work for event in events if event.type == "llm.started")
    assert {name: again[name] for name in done} == {name: begun[name] for name in done}
    cancelled = sum(script.rules_called("cancelled").values())
    assert sum(script.rules_called("started").values()) == (
        sum(script.rules_called().values()) + cancelled
    )

    def rows() -> set[tuple[str, int]]:
        found = set(Note.objects.filter(run=run).values_list("work", "attempt"))
        found |= set(ToolCall.objects.filter(run=run).values_list("work", "attempt"))
        for source in Source.objects.filter(run=run):
            assert source.finders
            found |= {(name, attempt) for name, attempt in source.finders}
        return found

    assert not voided & await lab.db(rows)
    assert not await lab.db(
        lambda: Task.objects.filter(run=run).exclude(status="completed").count()
    )


async def test_only_one_house_of_a_machine_carries_work(lab: Lab) -> None:
    other = House()
    await other.engine.start()
    try:
        await asyncio.sleep(0.7)
        assert (lab.house.engine.leading, other.engine.leading) == (True, False)
        await lab.house.engine.stop()
        async with asyncio.timeout(5):
            while not other.engine.leading:
                await asyncio.sleep(0.02)
    finally:
        await other.engine.stop()


async def test_work_that_never_ends_is_given_up(
    collection: Collection, script: Script, lab: Lab
) -> None:
    script.play([second_task("hang", [{"fault": "hang"}]), *rules()])
    run_id = await lab.ask(researchers=1)
    for attempt in range(1, 6):
        await lab.until(
            run_id,
            lambda events, n=attempt: any(  # type: ignore[misc]
                e.work == "task:2" and e.attempt == n and e.type == "llm.started" for e in events
            ),
        )
        await lab.house.engine.stop()
        await lab.house.engine.start()
    run, events = await lab.end(run_id)
    check(run, events, "completed")
    (failed,) = of(events, "task.failed")
    assert failed.data["code"] == "gave_up"


def test_a_log_that_may_have_lost_its_tail_gets_a_new_epoch(
    user: User, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot = tmp_path / "boot"
    monkeypatch.setattr(epoch, "BOOT_ID", boot)
    going_on, ended = Steps(user), Steps(user)
    cancel_run(ended.id, "ann")
    ended.do(runs.finish_cancel)

    def epochs() -> list[str]:
        return [log.head(steps.id).epoch for steps in (going_on, ended)]

    before = epochs()
    boot.write_text("one\n")
    for _ in range(2):
        epoch.renew_after_power_loss(tmp_path)
        assert epochs() == before, "the machine was on all the time"
    boot.write_text("two\n")
    epoch.renew_after_power_loss(tmp_path)
    after = epochs()
    assert after[0] != before[0]
    assert after[1] == before[1], "what has ended was written down whole"
    epoch.renew_after_power_loss(tmp_path)
    assert epochs() == after
