"""What people may ask of a run: each command in each phase, twice, and how it goes on."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from pydantic_ai.messages import ModelRequest, UserPromptPart

from research.actions import runs, works
from research.actions.plan import finish_task
from research.actions.report import finish_section, finish_verification
from research.engine import controls
from research.engine.controls import Obeyed
from research.engine.local import LocalEngine
from research.engine.work import cancel_run, start_run
from research.fold import load
from research.llm.request import Request
from research.models import Collection, Command, Member, Run, Steer, Task
from streaming.events import Event
from streaming.exceptions import BadRequest, Conflict, NotFound, StreamingError

from .conftest import TOPIC, Lab, Steps
from .scripts import Script, rules
from .test_engine import check, in_work, of, works_of

pytestmark = [pytest.mark.django_db(transaction=True)]


# --- each command in each phase ------------------------------------------------------------------
def bring_to(steps: Steps, phase: str, user: User) -> None:
    """Carry a run by hand to one of the phases."""
    if phase == "plan":
        steps.claim("plan")
        return
    first, second = steps.plan("One", "Two")
    if phase == "task":
        return
    if phase == "paused":
        controls.pause(steps.row(), user)
        steps.do(works.put_aside("task:1", None), first)
        return
    if phase == "finishing":
        controls.finish(steps.row(), user)
        return
    if phase == "cancelling":
        controls.cancel(steps.row(), user)
        return
    for claimed in (first, second):
        steps.do(finish_task(claimed.name, ""), claimed)
    written = steps.claim("write:1")
    if phase == "write":
        return
    steps.do(finish_section("write:1", "lead", "Lead", "Nothing."), written)
    checked = steps.claim("verify")
    if phase == "verify":
        return
    steps.do(finish_verification("verify", []), checked)
    assert steps.row().status == "completed"


def order(name: str, steps: Steps, user: User, key: str | None = None) -> Obeyed:
    run = steps.row()
    match name:
        case "steer":
            return controls.steer(run, user, "Look at horns.", "", key)
        case "retry":
            return controls.retry(run, user, 1, key)
        case "rerun":
            return controls.again(run, user, key)
    return getattr(controls, name)(run, user, key)  # type: ignore[no-any-return]


PHASES = ["plan", "task", "paused", "finishing", "cancelling", "write", "verify", "ended"]
#             plan         task         paused       finishing    cancelling   write        verify
#             ended
EXPECTED = {
    "steer": ["running", "running", "paused", "finishing", "!not_running", "running", "running",
              "!not_running"],
    "pause": ["paused", "paused", "paused", "!not_running", "!not_running", "paused", "paused",
              "!not_running"],
    "resume": ["!not_paused", "!not_paused", "running", "!not_running", "!not_running",
               "!not_paused", "!not_paused", "!not_running"],
    "finish": ["finishing", "finishing", "finishing", "finishing", "!not_running", "!too_late",
               "!too_late", "!not_running"],
    "cancel": ["cancelling", "cancelling", "cancelling", "cancelling", "cancelling", "cancelling",
               "cancelling", "!not_running"],
    "retry": ["!no_task", "!not_failed", "!not_failed", "!not_running", "!not_running",
              "!not_failed", "!not_failed", "running"],
    "rerun": ["!still_running", "!still_running", "!still_running", "!still_running",
              "!still_running", "!still_running", "!still_running", "running"],
}  # fmt: skip
TABLE = [
    (command, phase, told)
    for command, row in EXPECTED.items()
    for phase, told in zip(PHASES, row, strict=True)
]
SAYS = {
    "steer": "input.received",
    "pause": "run.paused",
    "resume": "run.resumed",
    "finish": "run.finishing",
    "cancel": "run.cancelling",
}


@pytest.mark.parametrize(("command", "phase", "told"), TABLE)
def test_each_command_in_each_phase_twice(
    steps: Steps, user: User, command: str, phase: str, told: str
) -> None:
    bring_to(steps, phase, user)
    before = steps.events()
    if told.startswith("!"):
        for _ in range(2):
            with pytest.raises(StreamingError) as refused:
                order(command, steps, user, "k")
            assert refused.value.code == told[1:]
            assert refused.value.message
        assert steps.events() == before
        assert not Command.objects.filter(key="k").exists()
        return
    first = order(command, steps, user, "k")
    said = steps.events()[len(before) :]
    assert (first.duplicate, first.answer["state"]) == (False, told)
    again = order(command, steps, user, "k")
    assert (again.duplicate, again.answer) == (True, first.answer)
    assert steps.events()[len(before) :] == said, "the same key does nothing twice"
    if command in ("retry", "rerun"):
        child = Run.objects.get(pk=first.answer["run"])
        assert (child.parent_id, first.answer["parent"]) == (steps.id, str(steps.id))
        assert Run.objects.count() == 2
        return
    assert first.answer["applied_seq"] == len(before) + len(said)
    assert first.answer["head"].endswith(f":{first.answer['applied_seq']}")
    effects = [event for event in said if event.type == SAYS[command]]
    is_so_already = told == steps_status(phase) and command != "steer"
    assert len(effects) == (0 if is_so_already else 1)
    for event in effects:
        assert (event.source_member, event.role) == ("ann", "human_agent")
    with pytest.raises(Conflict) as reused:
        other = "steer" if command != "steer" else "pause"
        order(other, steps, user, "k")
    assert reused.value.code == "key_reused"


def steps_status(phase: str) -> str:
    return phase if phase in ("paused", "finishing", "cancelling") else "running"


def test_who_asks_joins_the_team_once_and_no_other_name_speaks_for_them(steps: Steps) -> None:
    User.objects.create_user("writer")
    steps.plan("One")
    ann, writer = User.objects.get(username="ann"), User.objects.get(username="writer")
    controls.steer(steps.row(), ann, "One.")
    controls.steer(steps.row(), ann, "Two.")
    controls.steer(steps.row(), writer, "Three.")
    joined = [e.data["name"] for e in of(steps.events(), "member.joined")]
    assert joined[-2:] == ["ann", "writer (person)"]
    assert Counter(joined)["writer"] == 1
    assert [e.source_member for e in of(steps.events(), "input.received")][-1] == joined[-1]
    assert Member.objects.filter(run=steps.id, role="human_agent").count() == 2


@pytest.mark.parametrize(
    ("text", "to", "code"),
    [
        ("", "", "empty_text"),
        (" \n\t ", "", "empty_text"),
        ("x" * 4001, "", "too_long"),
        ("Hm.", "nobody", "no_member"),
        ("Hm.", "x" * 65, "no_member"),
        ("Hm.", "ann", "no_member"),
    ],
)
def test_a_steer_that_cannot_be_taken_is_refused(
    steps: Steps, user: User, text: str, to: str, code: str
) -> None:
    steps.plan("One")
    before = steps.events()
    with pytest.raises((BadRequest, NotFound)) as refused:
        controls.steer(steps.row(), user, text, to)
    assert refused.value.code == code
    assert steps.events() == before


def test_a_run_takes_only_so_many_steers(steps: Steps, user: User) -> None:
    steps.plan("One")
    for number in range(100):
        controls.steer(steps.row(), user, f"No. {number} 灯塔🗼")
    with pytest.raises(Conflict) as refused:
        controls.steer(steps.row(), user, "One more.")
    assert refused.value.code == "too_many_steers"
    assert Steer.objects.filter(run=steps.id).count() == 100


@pytest.mark.parametrize(
    ("phase", "to", "missed"),
    [
        ("plan", "leader", False),
        ("plan", "researcher-3", False),
        ("plan", "verifier", True),
        ("task", "leader", True),
        ("task", "researcher-1", False),
        ("task", "researcher-3", True),
        ("task", "writer", False),
        ("write", "researcher-1", True),
        ("write", "writer", False),
        ("write", "", False),
        ("verify", "", True),
        ("verify", "writer", True),
    ],
)
def test_a_steer_that_nobody_will_hear_is_told_at_once(
    steps: Steps, user: User, phase: str, to: str, missed: bool
) -> None:
    bring_to(steps, phase, user)
    answer = controls.steer(steps.row(), user, "Look at horns.", to).answer
    assert answer["missed"] == missed
    failed = of(steps.events(), "team.interact_failed")
    assert [e.data["input_id"] for e in failed] == ([answer["input_id"]] if missed else [])
    (card,) = [c for c in load(steps.id).moments.values() if c.kind == "input.received"]
    assert (card.to or "", card.missed, card.heard) == (to, missed, [])


@pytest.mark.parametrize("end", ["cancel", "complete", "fail"])
def test_a_steer_that_nobody_heard_is_told_once_before_the_end(
    steps: Steps, user: User, end: str
) -> None:
    bring_to(steps, "write", user)
    controls.steer(steps.row(), user, "Look at horns.")
    if end == "cancel":
        cancel_run(steps.id, "ann")
        steps.do(runs.stopped)
    else:
        steps.do(runs.complete([], False) if end == "complete" else runs.fail("x", "y"))
    events = steps.events()
    assert len(of(events, "team.interact_failed")) == 1
    assert of(events, "team.interact_failed")[0].seq < events[-1].seq
    assert Steer.objects.get().missed


# --- steering a run ------------------------------------------------------------------------------
class Ear:
    """Writes down every prompt that a model was sent, by the work that it was for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.prompts: list[str] = []
        read = Request.of

        def of_(messages: Any, parameters: Any) -> Request:
            parts = [p for item in messages if isinstance(item, ModelRequest) for p in item.parts]
            said = [str(p.content) for p in parts if isinstance(p, UserPromptPart)]
            self.prompts.append("\n".join(said))
            return read(messages, parameters)

        monkeypatch.setattr("research.llm.scripted.Request.of", of_)

    def of(self, mark: str) -> list[str]:
        return [prompt for prompt in self.prompts if mark in prompt]


FIRST, SECOND = '<task id="1">', '<task id="2">'


async def steered(lab: Lab, user: User, to: str, text: str = "Look at <horns>.") -> UUID:
    """Start a run, and steer it while the first task is being searched for."""
    run_id = await lab.ask()
    await lab.until(run_id, in_work("task:1", "message.started"))
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    await lab.db(controls.steer, run, user, text, to)
    return run_id


async def test_a_steer_is_in_the_next_prompt_of_the_one_it_is_for_and_of_nobody_else(
    collection: Collection,
    script: Script,
    lab: Lab,
    user: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script.play(rules(0.02))
    ear = Ear(monkeypatch)
    await lab.research()
    unsteered = ear.prompts[:]
    del ear.prompts[:]
    run, events = await lab.end(await steered(lab, user, "researcher-1"))
    check(run, events, "completed")
    whom = of(events, "work.started")
    carried = {e.work: e.source_member for e in whom}
    assert carried["task:1"] == "researcher-1"
    mine = ear.of(FIRST)
    assert "<steer" not in mine[0]
    assert all(p.endswith('<steer by="ann">Look at &lt;horns&gt;.</steer>') for p in mine[1:])
    assert len(mine) == 3
    others = [p for p in ear.prompts if FIRST not in p]
    assert not [p for p in others if "<steer" in p]
    asked = {p for p in others if "<section" not in p}  # those name sources by when they came
    assert asked < set(unsteered), "others' prompts are the same, byte for byte"
    (heard,) = of(events, "input.heard")
    assert (heard.source_member, heard.work) == ("researcher-1", "task:1")
    assert not of(events, "team.interact_failed")
    (said,) = of(events, "input.received")
    assert (said.data["text"], said.data["to"]) == ("Look at <horns>.", "researcher-1")
    assert heard.data["input_id"] == said.data["input_id"]


async def test_a_steer_for_all_is_heard_by_those_who_work_and_those_who_come(
    collection: Collection,
    script: Script,
    lab: Lab,
    user: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script.play(rules(0.02))
    ear = Ear(monkeypatch)
    run, events = await lab.end(await steered(lab, user, ""))
    check(run, events, "completed")
    members = {e.source_member for e in of(events, "input.heard")}
    assert members == {"researcher-1", "researcher-2", "writer"}
    assert len(of(events, "input.heard")) == 3, "each says so once"
    assert all("<steer" in prompt for prompt in ear.of("<section"))
    assert not [p for p in ear.prompts if p.count("<steer") > 1], "nobody is told twice"


async def test_a_steer_for_one_who_has_not_begun_waits_for_them(
    collection: Collection,
    script: Script,
    lab: Lab,
    user: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script.play(rules(0.02))
    ear = Ear(monkeypatch)
    run, events = await lab.end(await steered(lab, user, "writer"))
    check(run, events, "completed")
    assert {e.source_member for e in of(events, "input.heard")} == {"writer"}
    assert not [p for p in ear.prompts if "<steer" in p and "<section" not in p]


async def test_the_keyless_model_searches_for_what_it_is_told(
    collection: Collection, lab: Lab, user: User
) -> None:
    await lab.house.engine.stop()
    run_id = await lab.ask("How do lighthouses warn ships?")
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    await lab.db(controls.steer, run, user, "last keeper automated 1998")
    await lab.house.engine.start()
    run, events = await lab.end(run_id)
    check(run, events, "completed")
    asked = [
        e.data["args"]["query"] for e in of(events, "tool.started") if e.data["tool"] == "search"
    ]
    assert "last keeper automated 1998" in asked
    (report,) = of(events, "report.completed")
    assert "1998" in report.data["text"]


# --- pausing -------------------------------------------------------------------------------------
async def paused(lab: Lab, user: User, script: Script, work: str = "task:1") -> UUID:
    """Start a run, pause it while a work speaks, and wait until nobody works any more."""
    run_id = await lab.ask()
    await lab.until(run_id, in_work(work, "llm.started"))
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    await lab.db(controls.pause, run, user)

    def rests(events: list[Event]) -> bool:
        begun = Counter(e.work for e in of(events, "work.started"))
        ended = Counter(e.work for e in of(events, "work.finished"))
        return begun == ended

    await lab.until(run_id, rests)
    return run_id


@pytest.mark.parametrize("work", ["plan", "task:1", "write:1"])
async def test_a_paused_run_holds_nobody_and_goes_on_where_it_was(
    collection: Collection, script: Script, lab: Lab, user: User, work: str
) -> None:
    script.play(rules(0.02))
    run_id = await paused(lab, user, script, work)
    before = await lab.events(run_id)
    calls = script.calls("started")
    await asyncio.sleep(0.7)
    assert await lab.events(run_id) == before, "nothing new begins"
    assert "running" not in (await lab.db(works_of, run_id)).values()
    names = [task.get_name() for task in asyncio.all_tasks()]
    assert not [name for name in names if str(run_id) in name], "no worker is held"
    state = await lab.db(load, run_id)
    assert state.run.status == "paused" and state.run.paused
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    assert run.status == "paused"
    await lab.db(controls.resume, run, user)
    run, events = await lab.end(run_id)
    check(run, events, "completed")
    assert not of(events, "attempt.discarded")
    again = script.calls("started")
    assert {call: again[call] for call in calls} == calls, "nothing is asked, or paid for, twice"
    assert set(again.values()) == {1}
    state = await lab.db(load, run_id)
    assert state.run.waited >= 700 and state.run.paused is None
    assert len(of(events, "task.completed")) == 2
    assert not events[-1].data["partial"] and not events[-1].data["gaps"]


async def test_a_paused_run_goes_on_in_another_process(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    script.play(rules(0.02))
    run_id = await paused(lab, user, script)
    await lab.house.engine.stop()
    lab.house.engine = LocalEngine(lab.house.runtime)
    await lab.house.engine.start()
    await asyncio.sleep(0.7)
    assert (await lab.db(load, run_id)).run.status == "paused"
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    await lab.db(controls.resume, run, user)
    run, events = await lab.end(run_id)
    check(run, events, "completed")
    assert set(script.calls("started").values()) == {1}


async def test_a_pause_is_not_undone_by_a_process_that_dies_before_it_took_hold(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    slow = rules(0.02)
    slow[1]["reply"].insert(0, {"fault": "hang"})
    script.play(slow)
    run_id = await lab.ask()
    await lab.until(run_id, in_work("task:2", "llm.started"))
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    await lab.db(controls.pause, run, user)
    assert (await lab.db(load, run_id)).run.status == "pausing"
    await lab.house.engine.stop()
    lab.house.engine = LocalEngine(lab.house.runtime)
    await lab.house.engine.start()
    await lab.until(run_id, lambda events: len(of(events, "attempt.discarded")) == 2)
    assert (await lab.db(load, run_id)).run.status == "paused"
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    await lab.db(controls.cancel, run, user)
    check(*await lab.end(run_id), "cancelled")


async def test_a_steer_given_while_paused_is_heard_on_resume(
    collection: Collection,
    script: Script,
    lab: Lab,
    user: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script.play(rules(0.02))
    ear = Ear(monkeypatch)
    run_id = await paused(lab, user, script)
    told = len(ear.prompts)
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    await lab.db(controls.steer, run, user, "Look at horns.", "researcher-1")
    await lab.db(controls.resume, run, user)
    run, events = await lab.end(run_id)
    check(run, events, "completed")
    later = [prompt for prompt in ear.prompts[told:] if FIRST in prompt]
    assert later and all(prompt.count("<steer") == 1 for prompt in later)


async def test_many_pauses_use_up_no_attempts(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    script.play(rules(0.01, [{"title": "How", "intent": "", "query": "lighthouse warns ships"}]))
    run_id = await lab.ask()
    for _ in range(8):
        run = await lab.db(lambda: Run.objects.get(pk=run_id))
        if run.status != "running":
            break
        await lab.db(controls.pause, run, user)
        await lab.until(run_id, lambda events: not busy(events))
        await lab.db(controls.resume, run, user)
        await asyncio.sleep(0.1)
    run, events = await lab.end(run_id)
    check(run, events, "completed")


def busy(events: list[Event]) -> set[str]:
    works = {e.work or "" for e in of(events, "work.started")}
    begun = Counter(e.work for e in of(events, "work.started"))
    ended = Counter(e.work for e in of(events, "work.finished"))
    return {work for work in works if begun[work] > ended[work]}


# --- finishing -----------------------------------------------------------------------------------
async def test_finish_writes_from_what_is_noted_and_skips_the_rest(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    tasks = [
        {"title": f"Part {n}", "intent": "", "query": "lighthouse warns ships"} for n in range(4)
    ]
    slow = rules(0.01, tasks)
    slow[3]["reply"].insert(0, {"fault": "hang"})  # the summary never comes
    script.play(slow)
    run_id = await lab.ask(researchers=2)
    await lab.until(run_id, lambda events: len(of(events, "note.saved")) == 2)
    await lab.until(run_id, lambda events: len(of(events, "llm.started")) == 7)
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    answer = await lab.db(controls.finish, run, user)
    assert answer.answer["state"] == "finishing"
    run, events = await lab.end(run_id)
    check(run, events, "completed")
    statuses = await lab.db(lambda: [t.status for t in Task.objects.filter(run=run_id)])
    assert statuses == ["cancelled", "cancelled", "skipped", "skipped"]
    assert (events[-1].data["partial"], events[-1].data["gaps"]) == (True, [3, 4])
    (report,) = of(events, "report.completed")
    assert "warns ships" in report.data["text"], "what was noted is in the report"
    assert [e.data["title"] for e in of(events, "report.section")][1:] == ["Part 0", "Part 1"]
    assert sum(script.calls("cancelled").values()) == 2, "the models are not asked on"


@pytest.mark.parametrize("work", ["plan", "task:1"])
async def test_a_paused_run_can_be_finished(
    collection: Collection, script: Script, lab: Lab, user: User, work: str
) -> None:
    script.play(rules(0.02))
    run_id = await paused(lab, user, script, work)
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    await lab.db(controls.finish, run, user)
    run, events = await lab.end(run_id)
    check(run, events, "completed")
    assert events[-1].data["partial"] and run.cut_short


async def test_a_run_that_is_finished_before_its_plan_says_that_nothing_was_found(
    script: Script, lab: Lab, user: User
) -> None:
    script.play([{"name": "plan", "when": {"output": True}, "reply": [{"fault": "hang"}]}])
    run_id = await lab.ask()
    await lab.until(run_id, in_work("plan", "llm.started"))
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    await lab.db(controls.finish, run, user)
    run, events = await lab.end(run_id)
    check(run, events, "completed")
    (report,) = of(events, "report.completed")
    assert report.data["text"] == "No source was found that answers this question."
    assert events[-1].data["partial"]


async def test_a_finish_that_a_process_did_not_live_to_do_is_done_by_the_next(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    slow = rules(0.01)
    slow[3]["reply"].insert(0, {"fault": "hang"})
    script.play(slow)
    run_id = await lab.ask()
    await lab.until(run_id, lambda events: len(of(events, "llm.started")) == 7)
    await lab.house.engine.stop()
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    await lab.db(controls.finish, run, user)
    lab.house.engine = LocalEngine(lab.house.runtime)
    await lab.house.engine.start()
    run, events = await lab.end(run_id)
    check(run, events, "completed")
    assert len(of(events, "task.cancelled")) == 2 and events[-1].data["partial"]


# --- cancel --------------------------------------------------------------------------------------
async def test_a_paused_run_can_be_cancelled(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    script.play(rules(0.02))
    run_id = await paused(lab, user, script)
    run = await lab.db(lambda: Run.objects.get(pk=run_id))
    await lab.db(controls.cancel, run, user)
    run, events = await lab.end(run_id)
    check(run, events, "cancelled")
    assert "queued" not in (await lab.db(works_of, run_id)).values()


# --- follow-ups ----------------------------------------------------------------------------------
async def test_a_follow_up_tells_the_leader_what_was_asked_before(
    collection: Collection,
    script: Script,
    lab: Lab,
    user: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, _ = await lab.research()
    ear = Ear(monkeypatch)
    started = await lab.db(start_run, user, "And in fog?", None, None, first)
    run, events = await lab.end(started.run.pk)
    check(run, events, "completed")
    assert f"<earlier>{TOPIC}</earlier>" in ear.prompts[0]
    assert not [prompt for prompt in ear.prompts[1:] if "<earlier>" in prompt]
