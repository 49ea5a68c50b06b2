"""The commands of research: what a client may ask for, and what it is answered."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User

from research import commands as research_commands
from research.models import Collection, Run
from streaming import commands
from streaming.commands import Answer, Principal
from streaming.exceptions import BadRequest, Conflict, NotFound

from .conftest import TOPIC, Lab
from .scripts import Script, rules

pytestmark = [pytest.mark.django_db(transaction=True)]


async def obey(lab: Lab, who: User, **message: Any) -> dict[str, Any]:
    """Carry a command out as the websocket does, and return the fields of its answer."""
    command: Any = commands.parse(json.dumps({"id": 1, **message}))
    handler = commands.REGISTRY[message["type"]].handler
    principal = Principal(who.pk, who.username, "token")
    answer: Answer = await handler(lab.house.runtime, principal, command)
    json.dumps(answer.fields)
    return answer.fields


async def test_a_start_answers_with_a_run_that_goes_to_its_end(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    answer = await obey(lab, user, type="start", topic=f" {TOPIC} ", key="k")
    again = await obey(lab, user, type="start", topic=TOPIC, key="k")
    assert (answer["duplicate"], again["duplicate"]) == (False, True)
    assert answer["run"] == again["run"]
    assert answer["state"] == "running"
    (run,) = await lab.db(lambda: list(Run.objects.all()))
    assert (str(run.pk), run.user_id, run.topic) == (answer["run"], user.pk, TOPIC)
    ended, _ = await lab.end(run.pk)
    assert ended.status == "completed"
    late = await obey(lab, user, type="start", topic=TOPIC, key="k")
    assert (late["run"], late["state"], late["duplicate"]) == (answer["run"], "completed", True)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"topic": ""},
        {"topic": 7},
        {"topic": TOPIC, "options": {"researchers": 0}},
        {"topic": TOPIC, "options": {"researchers": 9}},
        {"topic": TOPIC, "options": {"depth": 3}},
        {"topic": TOPIC, "options": {"collections": [1] * 51}},
        {"topic": TOPIC, "options": []},
        {"topic": TOPIC, "key": ""},
        {"topic": TOPIC, "key": "k" * 201},
        {"topic": TOPIC, "subscribe": {"sub": "s", "face": "none"}},
    ],
)
def test_a_start_that_is_wrong_is_refused_before_it_starts(fields: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        commands.parse(json.dumps({"id": 1, "type": "start", **fields}))


async def test_a_question_of_blanks_is_refused(lab: Lab, user: User) -> None:
    with pytest.raises(BadRequest) as refused:
        await obey(lab, user, type="start", topic=" \n ")
    assert refused.value.code == "empty_topic"


async def test_a_key_that_was_used_for_something_else_is_refused(
    script: Script, lab: Lab, user: User
) -> None:
    await obey(lab, user, type="start", topic=TOPIC, key="k")
    with pytest.raises(Conflict) as refused:
        await obey(lab, user, type="start", topic="Something else", key="k")
    assert refused.value.code == "key_reused"


async def test_a_cancel_answers_with_where_it_stands_in_the_log(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    script.play(rules(0.05))
    run_id = await lab.ask()
    await lab.until(run_id, lambda events: events[-1].work == "plan")
    answer = await obey(lab, user, type="cancel", run=str(run_id))
    _, events = await lab.end(run_id)
    effect = events[answer["applied_seq"] - 1]
    assert (effect.type, effect.data["by"]) == ("run.cancelling", "ann")
    assert answer["head"].endswith(f":{answer['applied_seq']}")
    assert (answer["run"], answer["state"]) == (str(run_id), "cancelling")


async def test_the_same_key_gives_the_same_answer_to_a_cancel_also_after_the_end(
    lab: Lab, user: User, collection: Collection, script: Script
) -> None:
    script.play(rules(0.05))
    run_id = await lab.ask()
    other = await lab.ask()
    cancel = {"type": "cancel", "run": str(run_id), "key": "c1"}
    first = await obey(lab, user, **cancel)
    await lab.end(run_id)
    again = await obey(lab, user, **cancel)
    assert (first.pop("duplicate"), again.pop("duplicate")) == (False, True)
    assert again == first
    with pytest.raises(Conflict) as refused:
        await obey(lab, user, type="cancel", run=str(other), key="c1")
    assert refused.value.code == "key_reused"
    await obey(lab, user, type="cancel", run=str(other))
    await lab.end(other)


async def test_a_run_that_has_ended_cannot_be_cancelled(
    script: Script, lab: Lab, user: User
) -> None:
    run, events = await lab.research()
    with pytest.raises(Conflict) as refused:
        await obey(lab, user, type="cancel", run=str(run.pk))
    assert refused.value.code == "not_running"
    assert await lab.events(run.pk) == events


async def test_a_stranger_cannot_cancel_and_is_not_told_that_there_is_a_run(
    script: Script, lab: Lab, rival: User
) -> None:
    script.play(rules(0.05))
    run_id = await lab.ask()
    said = []
    for target in (run_id, uuid4()):
        with pytest.raises(NotFound) as refused:
            await obey(lab, rival, type="cancel", run=str(target))
        said.append((refused.value.code, refused.value.message))
    assert said[0] == said[1]
    assert (await lab.db(lambda: Run.objects.get(pk=run_id))).status == "running"
    assert "run.cancelling" not in {event.type for event in await lab.events(run_id)}


def test_the_commands_of_research_are_registered() -> None:
    assert commands.REGISTRY["start"].model is research_commands.Start
    assert commands.REGISTRY["cancel"].model is research_commands.Cancel


async def test_a_follow_up_names_a_run_of_ones_own(
    script: Script, lab: Lab, user: User, rival: User
) -> None:
    run, _ = await lab.research()
    for parent in (run.pk, uuid4()):
        with pytest.raises(NotFound) as refused:
            await obey(lab, rival, type="start", topic="And in fog?", parent=str(parent))
        assert refused.value.code == "not_found"
    answer = await obey(lab, user, type="start", topic="And in fog?", parent=str(run.pk))
    child, events = await lab.end(UUID(answer["run"]))
    assert (child.parent_id, events[0].data["parent"]) == (run.pk, str(run.pk))
    assert await lab.db(Run.objects.count) == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "steer"},
        {"type": "steer", "text": 7},
        {"type": "steer", "text": "Hm.", "to": 7},
        {"type": "retry"},
        {"type": "retry", "task_id": 0},
        {"type": "retry", "task_id": "x"},
        {"type": "pause", "run": "x"},
        {"type": "pause", "key": ""},
    ],
)
def test_a_command_that_is_wrong_is_refused_before_anything_is_done(fields: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        commands.parse(json.dumps({"id": 1, "run": str(uuid4()), **fields}))


async def test_the_same_command_twice_at_once_is_done_once(
    collection: Collection, script: Script, lab: Lab, user: User
) -> None:
    script.play(rules(0.05))
    run_id = await lab.ask()
    await lab.until(run_id, lambda events: events[-1].work == "plan")
    steer = {"type": "steer", "run": str(run_id), "text": "Look at horns.", "key": "s"}
    answers = await asyncio.gather(*(obey(lab, user, **steer) for _ in range(8)))
    assert sum(not answer["duplicate"] for answer in answers) == 1
    assert len({answer["applied_seq"] for answer in answers}) == 1
    events = await lab.events(run_id)
    assert sum(event.type == "input.received" for event in events) == 1
    await obey(lab, user, type="cancel", run=str(run_id))
    await lab.end(run_id)
