"""Another's run is not there for any command. Made from the registry: a new one is tested too."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from pydantic import BaseModel

from research.access import new_token
from research.models import Run
from streaming import commands
from streaming.models import Stream
from tests.streaming.sockets import Socket

from . import recorded
from .conftest import Lab
from .scripts import Script

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both]

OF_NO_RUN = {"start", "ping", "unsubscribe", "credit"}
SAMPLES: dict[str, Any] = {
    "sub": "s1", "topic": "What?", "text": "Look again.", "task_id": 1, "work": "task:1",
    "plan": [{"title": "a", "query": "b"}], "source_member": "researcher-1", "to": "leader",
}  # fmt: skip
FORGED = {"user_id": 1, "owner": 1, "session": "x", "session_id": "x", "group": "x", "channel": "x"}
"""What no command has, and a stranger sends all the same."""

MODELS: dict[str, type[BaseModel]] = commands.BUILT_IN | {
    name: known.model for name, known in commands.REGISTRY.items()
}


def message(name: str, run: UUID) -> dict[str, Any]:
    """Return a command about a run, with all that it must have."""
    given: dict[str, Any] = {}
    for field, info in MODELS[name].model_fields.items():
        if info.annotation is UUID:
            given[field] = str(run)
        elif info.is_required() and field not in ("id", "type"):
            assert field in SAMPLES, f"say in SAMPLES what the {field} of {name} may be"
            given[field] = SAMPLES[field]
    return given


def test_every_command_names_a_run_or_is_known_to_be_of_none() -> None:
    about_one = {
        name
        for name, model in MODELS.items()
        if any(info.annotation is UUID for info in model.model_fields.values())
    }
    assert MODELS.keys() - about_one == OF_NO_RUN


@pytest.mark.parametrize("name", sorted(MODELS.keys() - OF_NO_RUN))
async def test_anothers_run_answers_as_one_that_does_not_exist(
    lab: Lab, user: User, rival: User, name: str
) -> None:
    run: Run = await lab.db(recorded.record, user, recorded.whole()[:40])
    head = await lab.db(lambda: Stream.objects.get(pk=run.pk).head)
    socket = Socket.of_token(await lab.db(new_token, rival))
    await socket.open()
    answers = [
        await socket.ask(name, id=9, **message(name, run_id), **FORGED)
        for run_id in (run.pk, uuid4())
    ]
    assert answers[0] == answers[1]
    assert (answers[0]["type"], answers[0]["code"]) == ("error", "not_found")
    with pytest.raises(TimeoutError):  # and nothing comes of it later
        await socket.message(0.1)
    now = await lab.db(lambda: Run.objects.select_related("stream").get(pk=run.pk))
    assert (now.status, now.stream.head, now.user_id) == ("running", head, user.pk)
    assert await lab.db(Run.objects.count) == 1
    await socket.disconnect()


@pytest.mark.parametrize("name", sorted(commands.REGISTRY))
async def test_a_token_that_is_only_good_for_reading_changes_nothing(
    lab: Lab, user: User, name: str
) -> None:
    run: Run = await lab.db(recorded.record, user, recorded.whole()[:40])
    reader = await lab.db(lambda: new_token(user, scopes=["runs:read"]))
    socket = Socket.of_token(reader)
    await socket.open()
    answer = await socket.ask(name, **message(name, run.pk))
    assert (answer["type"], answer["code"]) == ("error", "forbidden_scope")
    assert (await socket.ask("subscribe", sub="s1", run=str(run.pk)))["type"] == "ack"
    assert await lab.db(Run.objects.count) == 1
    await socket.disconnect()


async def test_a_start_takes_no_field_that_is_not_its_own(
    script: Script, lab: Lab, user: User, rival: User
) -> None:
    socket = Socket.of_token(await lab.db(new_token, rival))
    await socket.open()
    forged = FORGED | {"user_id": user.pk, "user": user.pk, "status": "completed", "cost": 0}
    answer = await socket.ask("start", topic="What?", **forged)
    assert answer["type"] == "ack"
    run = await lab.db(lambda: Run.objects.get(pk=answer["run"]))
    assert (run.user_id, run.status) == (rival.pk, "running")
    for option in ("user_id", "is_staff", "mcp_configs"):
        refused = await socket.ask("start", topic="What?", options={option: 1})
        assert refused["code"] == "bad_request"
    await lab.end(run.pk)
    await socket.disconnect()
