"""Run again, follow up, and one task once more: child runs, and a failed task in place."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from research.actions import runs, works
from research.actions.plan import finish_task
from research.engine.work import cancel_run, rerun, retry_task, start_run
from research.models import Collection, Run, Task, Work
from research.options import RunOptions
from streaming.exceptions import BadRequest, Conflict, NotFound

from .conftest import TOPIC, Lab, Steps
from .scripts import Script, rules
from .test_engine import check, of, second_task

pytestmark = [pytest.mark.django_db(transaction=True)]


async def test_a_run_that_has_ended_is_asked_again_as_its_child(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    first, _ = await lab.research(researchers=2, collections=[collection.pk])
    started = await lab.db(rerun, first, user)
    run, events = await lab.end(started.run.pk)
    check(run, events, "completed")
    assert (run.topic, run.options, run.parent_id) == (first.topic, first.options, first.pk)
    assert events[0].data["parent"] == str(first.pk)
    assert script.rules_called()["plan"] == 2


def test_a_run_that_goes_on_is_not_asked_again(steps: Steps, user: User) -> None:
    with pytest.raises(Conflict) as refused:
        rerun(steps.row(), user)
    assert refused.value.code == "still_running"


async def test_a_collection_that_is_gone_is_said_when_a_run_is_asked_again(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    first, _ = await lab.research(collections=[collection.pk])
    await lab.db(lambda: Run.objects.filter(pk=first.pk).update(options={"collections": [999]}))
    gone = await lab.db(lambda: Run.objects.get(pk=first.pk))
    with pytest.raises(BadRequest) as refused:
        await lab.db(rerun, gone, user)
    assert refused.value.code == "no_collection"


async def test_a_task_that_failed_is_done_again_in_a_child_with_that_one_task(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    fails = second_task("fails", [{"fault": "http", "status": 500}])
    script.play([fails, *rules()])
    first, _ = await lab.research()
    failed = await lab.db(lambda: Task.objects.get(run=first, status="failed"))
    script.play(rules())
    started = await lab.db(retry_task, first, failed.task_id, user)
    run, events = await lab.end(started.run.pk)
    check(run, events, "completed")
    (proposed,) = of(events, "plan.proposed")
    (task,) = proposed.data["tasks"]
    assert (task["title"], task["query"]) == (failed.title, failed.query)
    assert run.parent_id == first.pk != run.pk
    assert script.rules_called("started")["plan"] == 1, "nobody is asked for a plan"


async def test_a_task_that_brought_something_or_is_none_is_not_done_again(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    first, _ = await lab.research()
    with pytest.raises(Conflict) as refused:
        await lab.db(retry_task, first, 1, user)
    assert refused.value.code == "not_failed"
    with pytest.raises(NotFound) as missing:
        await lab.db(retry_task, first, 99, user)
    assert missing.value.code == "no_task"


def test_while_others_work_a_failed_task_waits_in_place_for_who_is_free(
    steps: Steps, user: User
) -> None:
    first, second, third = steps.plan("One", "Two", "Three")
    steps.do(works.fail("task:1", "provider_error", "Down."), first)
    started = retry_task(steps.row(), 1, user)
    assert started.run.pk == steps.id
    work = Work.objects.get(run=steps.id, name="task:1")
    assert (work.status, work.attempt, work.error_code) == ("queued", 1, "")
    again = steps.claim("task:1")
    assert (again.attempt, again.member) == (2, "researcher-1")
    assert Task.objects.get(run=steps.id, task_id=1).status == "in_progress"
    (gone,) = of(steps.events(), "attempt.discarded")
    assert (gone.data["work"], gone.data["attempt"]) == ("task:1", 1)
    for claimed in (again, second, third):
        steps.do(finish_task(claimed.name, ""), claimed)
    assert steps.queued() == ["write:1"]


def test_a_failed_task_waits_where_everybody_is_busy(user: User) -> None:
    steps = Steps(user, researchers=1)
    (first,) = steps.plan("One", "Two")
    steps.do(works.fail("task:1", "provider_error", "Down."), first)
    second = steps.claim("task:2")
    retry_task(steps.row(), 1, user)
    assert steps.queued() == []
    steps.do(finish_task("task:2", ""), second)
    assert steps.queued() == ["task:1"]


@pytest.mark.parametrize("state", ["running", "writing", "cancelling"])
def test_a_task_is_not_tried_again_where_that_makes_no_sense(
    steps: Steps, user: User, state: str
) -> None:
    codes = {"running": "not_failed", "writing": "too_late", "cancelling": "not_running"}
    (claimed,) = steps.plan("One")
    if state != "running":
        Task.objects.filter(run=steps.id).update(status="failed")
    if state == "writing":
        Task.objects.filter(run=steps.id).update(status="in_progress")
        steps.do(finish_task("task:1", ""), claimed)
        Task.objects.filter(run=steps.id).update(status="failed")
    if state == "cancelling":
        cancel_run(steps.id, "ann")
    before = steps.types()
    with pytest.raises(Conflict) as refused:
        retry_task(steps.row(), 1, user)
    assert refused.value.code == codes[state]
    assert steps.types() == before


def test_one_key_makes_one_child_and_no_other_kind_of_run(steps: Steps, user: User) -> None:
    steps.do(runs.fail("plan_failed", "No plan could be made."))
    parent = steps.row()
    first, again = rerun(parent, user, "k"), rerun(parent, user, "k")
    assert (first.run.pk, again.duplicate) == (again.run.pk, True)
    with pytest.raises(Conflict):
        start_run(user, TOPIC, RunOptions(), "k")
