"""What a run does next."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.engine.next_work import (
    ENDED,
    Finish,
    NewWork,
    TaskFacts,
    Titles,
    WorkFacts,
    next_work,
)

TEAM = ["researcher-1", "researcher-2"]
LEAD = "In short"
TITLES = Titles(LEAD, "In more detail")


def work(name: str, status: str = "completed", member: str = "") -> WorkFacts:
    return WorkFacts(name, status, member or name)


def task(number: int, status: str = "completed", step: int | None = None) -> TaskFacts:
    return TaskFacts(number, step or number, f"T{number}", f"I{number}", status)


def after(works: list[WorkFacts], tasks: list[TaskFacts]) -> list[NewWork] | Finish:
    return next_work(TEAM, works, tasks, TITLES)


def names(todo: list[NewWork] | Finish) -> list[tuple[str, str]]:
    assert isinstance(todo, list)
    return [(new.name, new.member) for new in todo]


def test_a_run_begins_with_its_plan() -> None:
    assert names(after([], [])) == [("plan", "leader")]


@pytest.mark.parametrize("status", ["queued", "running"])
def test_nothing_begins_before_the_plan_has_ended(status: str) -> None:
    assert after([work("plan", status)], []) == []


def test_a_run_without_a_plan_fails() -> None:
    todo = after([work("plan", "failed")], [])
    assert isinstance(todo, Finish)
    assert not todo.completed
    assert todo.code


def test_as_many_tasks_begin_as_there_are_researchers_in_the_order_of_the_plan() -> None:
    tasks = [task(1, "pending", step=3), task(2, "pending", step=1), task(3, "pending", step=2)]
    assert names(after([work("plan")], tasks)) == [
        ("task:2", "researcher-1"),
        ("task:3", "researcher-2"),
    ]


def test_a_task_is_given_to_the_member_who_is_free() -> None:
    works = [
        work("plan"),
        work("task:1", "running", "researcher-1"),
        work("task:2", "failed", "researcher-2"),
    ]
    tasks = [task(1, "in_progress"), task(2, "failed"), task(3, "pending"), task(4, "pending")]
    assert names(after(works, tasks)) == [("task:3", "researcher-2")]


@pytest.mark.parametrize("status", ["queued", "running"])
def test_no_section_begins_while_a_task_is_under_way(status: str) -> None:
    works = [work("plan"), work("task:1"), work("task:2", status, "researcher-2")]
    assert after(works, [task(1), task(2, "in_progress")]) == []


def test_the_answer_is_written_first_and_then_each_task_that_found_something() -> None:
    works = [work("plan"), *(work(f"task:{n}") for n in (1, 2, 3, 4))]
    tasks = [task(1, step=4), task(2, "failed"), task(3, "skipped"), task(4, step=1)]
    written: list[WorkFacts] = []
    briefs: list[dict[str, Any]] = []
    while isinstance(todo := after(works + written, tasks), list) and todo[0].name != "verify":
        (new,) = todo
        assert new.member == "writer"
        assert new.name == f"write:{len(written) + 1}" == f"write:{new.input['section']}"
        briefs.append(new.input)
        assert after([*works, *written, work(new.name, "running")], tasks) == []
        written.append(work(new.name))
    assert [(b["kind"], b["title"], b["task_id"]) for b in briefs] == [
        ("lead", LEAD, None),
        ("task", "T4", 4),
        ("task", "T1", 1),
    ]
    assert {b["count"] for b in briefs} == {3}
    assert names(after(works + written, tasks)) == [("verify", "verifier")]


def test_where_every_task_failed_the_run_fails_of_what_they_failed_of() -> None:
    works = [work("plan"), work("task:1", "failed"), work("task:2", "failed")]
    todo = after(works, [task(1, "failed"), task(2, "failed")])
    assert todo == Finish(False, code="research_failed", message="Every task failed.")
    works[1] = replace(works[1], code="provider_auth", message="The key is refused.")
    todo = after(works, [task(1, "failed"), task(2, "failed")])
    assert todo == Finish(False, code="provider_auth", message="The key is refused.")


def test_where_every_task_failed_but_notes_are_there_the_answer_is_written_from_them() -> None:
    works = [work("plan"), work("task:1", "failed"), work("task:2", "failed")]
    tasks = [task(1, "failed"), replace(task(2, "failed"), noted=True)]
    (lead,) = after(works, tasks)  # type: ignore[misc]
    assert (lead.name, lead.input["kind"], lead.input["count"]) == ("write:1", "lead", 1)
    todo = after([*works, work("write:1"), work("verify")], tasks)
    assert todo == Finish(True, gaps=[1, 2], partial=True)


def test_where_no_source_was_found_the_run_completes_with_gaps_and_nothing_failed() -> None:
    works = [work("plan"), work("task:1"), work("write:1"), work("verify")]
    assert after(works, [task(1, "skipped")]) == Finish(True, gaps=[1], partial=False)


def test_a_section_that_failed_makes_the_run_partial_and_the_next_is_written() -> None:
    works = [work("plan"), work("task:1"), work("write:1", "failed")]
    assert names(after(works, [task(1)])) == [("write:2", "writer")]
    works += [work("write:2"), work("verify")]
    assert after(works, [task(1)]) == Finish(True, gaps=[], partial=True)


def test_a_report_of_which_nothing_could_be_written_fails_the_run() -> None:
    works = [work("plan"), work("task:1"), work("write:1", "failed"), work("write:2", "failed")]
    todo = after(works, [task(1)])
    assert isinstance(todo, Finish)
    assert not todo.completed


def test_a_report_that_could_not_be_checked_is_partial() -> None:
    works = [
        work("plan"),
        work("task:1"),
        work("write:1"),
        work("write:2"),
        work("verify", "failed"),
    ]
    assert after(works, [task(1)]) == Finish(True, gaps=[], partial=True)


ORDER = {"plan": 0, "task": 1, "write": 2, "verify": 3}


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_whatever_ends_when_and_how_the_rules_hold(data: st.DataObject) -> None:
    """Play a run: at each step the engine claims a work, or one that runs ends or fails."""
    team = [f"researcher-{n}" for n in range(1, data.draw(st.integers(1, 4), "researchers") + 1)]
    works: dict[str, WorkFacts] = {}
    tasks: dict[int, TaskFacts] = {}
    ended: list[str] = []
    failed_plan = data.draw(st.integers(0, 9), "plan fails") == 0
    for _ in range(200):
        before = copy.deepcopy((list(works.values()), list(tasks.values())))
        todo = next_work(team, list(works.values()), list(tasks.values()), TITLES)
        assert (list(works.values()), list(tasks.values())) == before
        again = next_work(list(team), list(works.values()), list(tasks.values()), TITLES)
        assert todo == again
        if isinstance(todo, Finish):
            break
        busy = {w.member for w in works.values() if w.status not in ENDED}
        for new in todo:
            assert new.name not in works, "never the same work twice"
            assert new.member not in busy, "a member speaks for one work at a time"
            busy.add(new.member)
            works[new.name] = WorkFacts(new.name, "queued", new.member)
        under_way = [w for w in works.values() if w.status not in ENDED]
        assert under_way, "nothing is under way, and the run has no end"
        kinds = {w.kind for w in under_way}
        assert len(kinds) == 1, "tasks side by side, and everything else after another"
        assert len(under_way) <= (len(team) if kinds == {"task"} else 1)
        assert not ended or ORDER[ended[-1]] <= ORDER[under_way[0].kind]
        one = data.draw(st.sampled_from(under_way), "work")
        if one.status == "queued" and data.draw(st.booleans(), "only claimed"):
            works[one.name] = WorkFacts(one.name, "running", one.member)
            continue
        fails = failed_plan if one.kind == "plan" else data.draw(st.integers(0, 3), "fails") == 0
        works[one.name] = WorkFacts(one.name, "failed" if fails else "completed", one.member)
        ended.append(one.kind)
        if one.kind == "plan" and not fails:
            count = data.draw(st.integers(1, 8), "tasks")
            steps = data.draw(st.permutations(range(1, count + 1)), "steps")
            tasks = {n: task(n, "pending", step=steps[n - 1]) for n in range(1, count + 1)}
        elif one.kind == "task":
            number = int(one.name.partition(":")[2])
            brought = data.draw(st.sampled_from(["completed", "skipped"]), "brought")
            status = "failed" if fails else brought
            tasks[number] = task(number, status, step=tasks[number].step)
    else:
        raise AssertionError("the run has no end")
    assert isinstance(todo, Finish)
    assert not [w for w in works.values() if w.status not in ENDED]
    if todo.completed:
        assert ended[-1] == "verify"
        assert todo.gaps == [t.task_id for t in tasks.values() if t.status != "completed"]
        assert todo.partial == any(w.status == "failed" for w in works.values())
        assert {f"task:{n}" for n in tasks} <= works.keys()


# --- what people ask for -------------------------------------------------------------------------
def test_a_task_that_waits_again_is_given_to_who_is_free() -> None:
    works = [work("plan"), work("task:1", "failed", TEAM[0]), work("task:2", "running", TEAM[0])]
    tasks = [task(1, "pending"), task(2, "in_progress")]
    assert names(after(works, tasks)) == [("task:1", TEAM[1])]


def test_what_was_stopped_has_a_section_if_anything_was_noted() -> None:
    works = [work("plan"), work("task:1", "cancelled"), work("task:2", "cancelled")]
    tasks = [replace(task(1, "cancelled"), noted=True), task(2, "cancelled"), task(3, "skipped")]
    (lead,) = after(works, tasks)  # type: ignore[misc]
    assert (lead.name, lead.input["count"]) == ("write:1", 2)
    works += [work("write:1"), work("write:2"), work("verify")]
    assert after(works, tasks) == Finish(True, gaps=[2, 3], partial=True)


def test_a_run_that_was_stopped_before_its_plan_is_written_from_nothing() -> None:
    (lead,) = after([work("plan", "cancelled")], [])  # type: ignore[misc]
    assert (lead.name, lead.input["kind"], lead.input["count"]) == ("write:1", "lead", 1)
    works = [work("plan", "cancelled"), work("write:1"), work("verify")]
    assert after(works, []) == Finish(True, gaps=[], partial=True)
