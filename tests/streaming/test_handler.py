"""A handler with a log: what an agent says stands there, in its voice, with its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import ValidationError

from streaming import log
from streaming import vocabulary as v
from streaming.events import DATA, Voice, decode
from streaming.handler import StreamHandler
from streaming.members import Role
from streaming.open_set import open_set
from streaming.runtime import Runtime
from streaming.sinks import LogSink

from .logs import new_stream, stored

pytestmark = pytest.mark.both

WHO = Voice(source_member="研究员-1", role=Role.TEAMMATE, stream_token="task_1", task_id=1)


class Told:
    """A handler, and its log to look into."""

    def __init__(self, runtime: Runtime, stream_id: UUID, **options: Any) -> None:
        self.runtime, self.stream_id = runtime, stream_id
        self.sink = LogSink(runtime.writer, stream_id, runtime.conf)
        self.handler = StreamHandler(self.sink, voice=WHO, **options)

    async def events(self) -> list[dict[str, Any]]:
        await self.handler.flush()
        return await self.runtime.readers.run(stored, self.stream_id)

    async def types(self) -> list[str]:
        return [event["type"] for event in await self.events()]


@pytest.fixture
async def told(runtime: Runtime) -> AsyncIterator[Told]:
    yield Told(runtime, await runtime.readers.run(new_stream))


async def test_a_whole_life_stands_in_the_log_in_order_and_everything_has_its_end(
    told: Told,
) -> None:
    handler = told.handler
    agent = await handler.start_agent("main", "Main")
    await handler.start_llm("main", model="m-1")
    message = await handler.start_message("summary", "Kelp", 2)
    await handler.message(message, "Kelp ")
    await handler.message(message, "needs light.")
    assert await handler.end_message(message) == "Kelp needs light."
    call = await handler.tool_call("search", {"q": "kelp"})
    assert await handler.tool_call("search", {"result": "[]"}, tool_call_id=call) == call
    await handler.end_llm("main", input_tokens=3, output_tokens=4)
    await handler.end_agent("main", agent)
    events = await told.events()
    assert [event["type"] for event in events] == [
        "agent.started",
        "llm.started",
        "message.started",
        "message.delta",
        "message.completed",
        "tool.started",
        "tool.finished",
        "llm.finished",
        "agent.finished",
    ]
    for event in events:
        assert event["source_member"] == "研究员-1"
        assert event["stream_token"] == "task_1"
        assert event["agent_id"] == agent
    assert events[2]["data"] == {
        "message_id": message,
        "kind": "summary",
        "title": "Kelp",
        "section": 2,
    }
    assert events[3]["data"]["delta"] == "Kelp needs light."
    assert events[4]["data"]["text"] == "Kelp needs light."
    assert events[6]["data"]["result"] == "[]"
    records = await told.runtime.readers.run(log.read_after, told.stream_id, 0)
    assert not open_set(decode(record.text) for record in records)
    assert handler.voice == WHO


async def test_an_agent_inside_an_agent_names_the_one_that_called_it(told: Told) -> None:
    handler = told.handler
    outer = await handler.start_agent("main")
    inner = await handler.start_agent("browsing")
    await handler.update("status", {"message": "in"})
    await handler.end_agent("browsing", inner)
    await handler.update("status", {"message": "out"})
    await handler.end_agent("main", outer)
    found = [
        (event["type"], event["agent_id"], event.get("parent_id")) for event in await told.events()
    ]
    assert found == [
        ("agent.started", outer, None),
        ("agent.started", inner, outer),
        ("status", inner, outer),
        ("agent.finished", inner, outer),
        ("status", outer, None),
        ("agent.finished", outer, None),
    ]


async def test_agents_that_overlap_each_end_in_their_own_voice(told: Told) -> None:
    handler = told.handler
    first, second = await handler.start_agent("a"), await handler.start_agent("b")
    await handler.end_agent("a", first)
    await handler.update("status", {"message": "b goes on"})
    await handler.end_agent("b", second)
    await handler.update("status", {"message": "nobody's"})
    assert [(event["type"], event.get("agent_id")) for event in await told.events()] == [
        ("agent.started", first),
        ("agent.started", second),
        ("agent.finished", first),
        ("status", second),
        ("agent.finished", second),
        ("status", None),
    ]


async def test_an_end_of_what_never_began_says_nothing(told: Told) -> None:
    await told.handler.end_agent("main", str(uuid4()))
    await told.handler.end_llm("main")
    assert await told.events() == []


async def test_questions_to_models_end_in_the_reverse_of_their_order_with_their_own_ids(
    told: Told,
) -> None:
    handler = told.handler
    first, second = await handler.start_llm("main"), await handler.start_llm("main")
    await handler.end_llm("main")
    await handler.end_llm("main", status="failed")
    await handler.end_llm("main")
    assert [(event["type"], event["data"]["llm_id"]) for event in await told.events()] == [
        ("llm.started", first),
        ("llm.started", second),
        ("llm.finished", second),
        ("llm.finished", first),
    ]


async def test_a_message_that_nobody_began_begins_with_its_first_piece(told: Told) -> None:
    await told.handler.message("m", "a")
    await told.handler.message("m", "")
    await told.handler.message("m", "b")
    await told.handler.end_message("m")
    assert [(event["type"], event["data"].get("delta")) for event in await told.events()] == [
        ("message.started", None),
        ("message.delta", "ab"),
        ("message.completed", None),
    ]


async def test_a_streamed_call_begins_without_arguments_and_they_follow_key_by_key(
    told: Told,
) -> None:
    handler = told.handler
    call = await handler.tool_call("search", {"q": "kelp", "n": 3}, streaming=True)
    await handler.tool_call("search", {"result": "[]"}, tool_call_id=call)
    events = await told.events()
    assert [event["type"] for event in events] == [
        "tool.started",
        "tool.args",
        "tool.args",
        "tool.finished",
    ]
    assert "args" not in events[0]["data"]
    assert [event["data"]["delta"] for event in events[1:3]] == [{"q": "kelp"}, {"n": 3}]
    assert {event["data"]["tool_call_id"] for event in events} == {call}


async def test_a_tool_may_be_given_an_argument_that_is_called_result(told: Told) -> None:
    call = await told.handler.tool_call("check", {"result": "42"})
    await told.handler.tool_call("check", {"result": "ok"}, tool_call_id=call)
    started, finished = await told.events()
    assert started["data"]["args"] == {"result": "42"}
    assert finished["data"]["result"] == "ok"


async def test_an_error_is_shown_and_the_run_goes_on(told: Told) -> None:
    await told.handler.show_error("quota", code="rate_limited")
    await told.handler.tool_call("show_error", {"error": "again"})
    await told.handler.update("status", {"message": "on"})
    events = await told.events()
    assert [event["type"] for event in events] == ["error.shown", "error.shown", "status"]
    assert [event["data"].get("code") for event in events] == ["rate_limited", "error", None]


# --- update ------------------------------------------------------------------------------------
async def test_an_update_of_a_known_type_is_that_event_and_its_data_must_fit(told: Told) -> None:
    await told.handler.update(
        "usage.updated", {"requests": 1, "input_tokens": 2, "output_tokens": 3}
    )
    for wrong in (
        {"requests": "many"},
        {"requests": 1, "input_tokens": 2, "output_tokens": 3, "x": 1},
    ):
        with pytest.raises(ValidationError):
            await told.handler.update("usage.updated", wrong)
    assert await told.types() == ["usage.updated"]


@pytest.mark.parametrize(
    ("name", "stored_as"),
    [
        ("checkpoint", "custom.checkpoint"),
        ("custom.checkpoint", "custom.checkpoint"),
        ("Mein Punkt!", "custom.mein_punkt_"),
        ("中间点", "custom.___"),
        ('x","seq":9,"y":"', "custom.x___seq__9__y___"),
    ],
)
async def test_an_update_of_any_other_type_is_custom(told: Told, name: str, stored_as: str) -> None:
    await told.handler.update(name, {"a": [1, None, "\0"], "b": float("nan")})
    [event] = await told.events()
    assert event["type"] == stored_as
    assert event["data"] == {"a": [1, None, "\ufffd"], "b": None}
    assert event["seq"] == 1


@pytest.mark.parametrize(
    "name",
    ["", "custom.", "x" * 61, *(name for name in DATA if name.startswith("run.")), "run.anything"],
)
async def test_an_update_that_only_actions_may_write_or_without_a_name_is_refused(
    told: Told, name: str
) -> None:
    with pytest.raises(ValueError, match=r"Only actions|cannot be the name"):
        await told.handler.update(name, {})
    assert await told.events() == []


async def test_what_is_no_json_is_refused_at_once_and_the_speaker_may_go_on(told: Told) -> None:
    with pytest.raises(ValueError, match="serialize"):
        await told.handler.update("checkpoint", {"a": object()})
    await told.handler.update("checkpoint", {"a": 1})
    assert await told.types() == ["custom.checkpoint"]


# --- the workflow, and nobody ------------------------------------------------------------------
class Owner:
    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    async def start_workflow(self, user_input: str) -> str:
        self.said.append(("start", user_input))
        return "w-1"

    async def end_workflow(self, workflow_id: str) -> None:
        self.said.append(("end", workflow_id))


async def test_the_start_and_end_of_a_workflow_are_actions_of_its_owner(runtime: Runtime) -> None:
    owner = Owner()
    told = Told(runtime, await runtime.readers.run(new_stream), lifecycle=owner)
    workflow = await told.handler.start_workflow("what is kelp?")
    await told.handler.end_workflow(workflow)
    assert owner.said == [("start", "what is kelp?"), ("end", "w-1")]
    assert await told.events() == []  # the handler itself writes nothing


async def test_a_handler_without_an_owner_writes_no_run_events(told: Told) -> None:
    assert UUID(await told.handler.start_workflow("x"))
    await told.handler.end_workflow("x")
    assert await told.events() == []


async def test_a_handler_for_nobody_takes_everything_and_keeps_what_it_must_return() -> None:
    handler = StreamHandler(None)
    agent = await handler.start_agent("main")
    await handler.start_llm("main")
    await handler.message("m", "a")
    await handler.message("m", "b")
    assert await handler.end_message("m") == "ab"
    await handler.tool_call("search", {"q": 1}, streaming=True)
    await handler.update("anything", {"a": 1})
    await handler.show_error("e")
    await handler.end_llm("main")
    await handler.end_agent("main", agent)
    await handler.end_workflow(await handler.start_workflow("x"))
    await handler.flush()
    with pytest.raises(ValueError, match="Only actions"):
        await handler.update("run.completed", {})


async def test_two_members_on_one_sink_keep_their_own_voices(told: Told) -> None:
    other = StreamHandler(told.sink, voice=Voice(source_member="鲍勃"))

    async def speak(handler: StreamHandler, name: str) -> None:
        agent = await handler.start_agent(name)
        for number in range(20):
            await handler.update("status", {"message": f"{name}{number}"})
            await asyncio.sleep(0)
        await handler.end_agent(name, agent)

    await asyncio.gather(speak(told.handler, "a"), speak(other, "b"))
    events = await told.events()
    for member, name in (("研究员-1", "a"), ("鲍勃", "b")):
        mine = [event for event in events if event["source_member"] == member]
        assert [event["data"].get("message", "") for event in mine[1:-1]] == [
            f"{name}{number}" for number in range(20)
        ]
        assert len({event["agent_id"] for event in mine}) == 1


async def test_every_type_that_a_handler_may_say_can_be_said(told: Told) -> None:
    """`say` takes any data of the vocabulary; what is said is read back by its own model."""
    for data in (v.Status(message="x"), v.Waiting(seconds=1.5, reason="quota")):
        await told.handler.say(data)
    for event in await told.events():
        DATA[event["type"]].model_validate(event["data"])
