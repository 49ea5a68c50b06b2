"""A handler with a queue speaks the workflow protocol, word for word."""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from uuid import UUID

import pytest

from streaming import vocabulary as v
from streaming.handler import StreamHandler
from streaming.queue_sink import QueueSink


class Queue(asyncio.Queue[Any]):
    def said(self) -> list[Any]:
        found = []
        while not self.empty():
            found.append(self.get_nowait())
        return found


def test_ids_are_uuids() -> None:
    async def ids() -> list[str]:
        handler = StreamHandler(None)
        return [
            await handler.start_workflow("x"),
            await handler.start_agent("main"),
            await handler.tool_call("search", {}),
        ]

    for id in asyncio.run(ids()):
        assert str(UUID(id)) == id


async def test_every_method_puts_exactly_what_the_protocol_says() -> None:
    queue = Queue()
    handler = StreamHandler(queue)

    workflow = await handler.start_workflow("what is kelp?")
    assert queue.said() == [
        {
            "event": "start_of_workflow",
            "data": {
                "workflow_id": workflow,
                "input": [{"role": "user", "content": "what is kelp?"}],
            },
        }
    ]
    agent = await handler.start_agent("main")
    assert queue.said() == [
        {
            "event": "start_of_agent",
            "data": {"agent_name": "main", "display_name": None, "agent_id": agent},
        }
    ]
    await handler.start_llm("main", "Summarizing")
    assert queue.said() == [
        {"event": "start_of_llm", "data": {"agent_name": "main", "display_name": "Summarizing"}}
    ]
    await handler.message("m1", "Let me ")
    await handler.message("m1", "see")
    await handler.end_message("m1")
    assert queue.said() == [
        {"event": "message", "data": {"message_id": "m1", "delta": {"content": "Let me "}}},
        {"event": "message", "data": {"message_id": "m1", "delta": {"content": "see"}}},
    ]
    call = await handler.tool_call("google_search", {"q": "kelp", "page": None})
    assert queue.said() == [
        {
            "event": "tool_call",
            "data": {
                "tool_call_id": call,
                "tool_name": "google_search",
                "tool_input": {"q": "kelp", "page": None},
            },
        }
    ]
    assert await handler.tool_call("google_search", {"result": "[]"}, tool_call_id=call) == call
    assert queue.said() == [
        {
            "event": "tool_call",
            "data": {
                "tool_call_id": call,
                "tool_name": "google_search",
                "tool_input": {"result": "[]"},
            },
        }
    ]
    await handler.end_llm("main")
    assert queue.said() == [{"event": "end_of_llm", "data": {"agent_name": "main"}}]
    await handler.end_agent("main", agent)
    assert queue.said() == [
        {"event": "end_of_agent", "data": {"agent_name": "main", "agent_id": agent}}
    ]
    await handler.end_workflow(workflow)
    assert queue.said() == [
        {"event": "end_of_workflow", "data": {"workflow_id": workflow}},
        None,
    ]


async def test_a_streamed_call_is_one_envelope_for_each_key_and_no_other() -> None:
    queue = Queue()
    handler = StreamHandler(queue)
    call = await handler.tool_call("show_text", {"text": "piece", "more": 1}, streaming=True)
    await handler.tool_call("show_text", {"text": "!"}, streaming=True, tool_call_id=call)
    assert queue.said() == [
        {
            "event": "tool_call",
            "data": {"tool_call_id": call, "tool_name": "show_text", "delta_input": delta},
        }
        for delta in ({"text": "piece"}, {"more": 1}, {"text": "!"})
    ]


@pytest.mark.parametrize("way", ["show_error", "tool_call"])
async def test_an_error_is_a_tool_call_and_then_the_end_mark(way: str) -> None:
    queue = Queue()
    handler = StreamHandler(queue)
    if way == "show_error":
        await handler.show_error("quota")
    else:
        await handler.tool_call("show_error", {"error": "quota"})
    said, end = queue.said()
    assert UUID(said["data"].pop("tool_call_id"))
    assert said == {
        "event": "tool_call",
        "data": {"tool_name": "show_error", "tool_input": {"error": "quota"}},
    }
    assert end is None


async def test_the_end_mark_is_put_once_whatever_ends_and_however_often() -> None:
    queue = Queue()
    handler = StreamHandler(queue)
    workflow = await handler.start_workflow("x")
    await handler.show_error("one")
    await handler.show_error("two")
    await handler.end_workflow(workflow)
    await handler.end_workflow(workflow)
    assert queue.said().count(None) == 1


async def test_the_recorded_order_of_a_run_with_a_sub_agent_comes_out_as_it_went_in() -> None:
    queue = Queue()
    handler = StreamHandler(queue)
    workflow = await handler.start_workflow("what is kelp?")
    for name, display in (("main", None), ("browsing", None), ("main", "Summarizing")):
        agent = await handler.start_agent(name, display)
        await handler.start_llm(name, display)
        await handler.tool_call("show_text", {"text": "I will search"})
        call = await handler.tool_call("google_search", {"q": "kelp"})
        await handler.tool_call("google_search", {"result": "{}"}, tool_call_id=call)
        if name == "browsing":
            await handler.tool_call("Partial Summary", {})
        await handler.end_llm(name)
        await handler.end_agent(name, agent)
    await handler.end_workflow(workflow)
    said = queue.said()
    assert said.pop() is None
    tools = ["tool_call"] * 3
    agents = ["start_of_agent", "start_of_llm", *tools, "end_of_llm", "end_of_agent"]
    browsing = ["start_of_agent", "start_of_llm", *tools, "tool_call", "end_of_llm", "end_of_agent"]
    assert [item["event"] for item in said] == [
        "start_of_workflow",
        *agents,
        *browsing,
        *agents,
        "end_of_workflow",
    ]


async def test_agents_that_overlap_each_get_their_end() -> None:
    queue = Queue()
    handler = StreamHandler(queue)
    first, second = await handler.start_agent("a"), await handler.start_agent("b")
    await handler.end_agent("a", first)
    await handler.end_agent("b", second)
    assert [(item["event"], item["data"]["agent_id"]) for item in queue.said()] == [
        ("start_of_agent", first),
        ("start_of_agent", second),
        ("end_of_agent", first),
        ("end_of_agent", second),
    ]


# --- update ------------------------------------------------------------------------------------
async def test_an_event_of_ones_own_keeps_its_name_and_all_of_its_data() -> None:
    queue = Queue()
    data = {"event": "x", "type": None, "encode": 1, "self": [2], "long": {"a": None}, "_x": "字"}
    await StreamHandler(queue).update("custom_checkpoint", data)
    assert queue.said() == [{"event": "custom_checkpoint", "data": data}]


async def test_an_event_of_the_vocabulary_is_said_as_the_protocol_has_it() -> None:
    queue = Queue()
    handler = StreamHandler(queue)
    await handler.update("message.delta", {"message_id": "m", "delta": "x"})
    await handler.update("status", {"message": "searching"})
    assert queue.said() == [
        {"event": "message", "data": {"message_id": "m", "delta": {"content": "x"}}},
        {"event": "status", "data": {"message": "searching"}},
    ]


# --- a queue that fails ------------------------------------------------------------------------
class Broken:
    async def put(self, item: Any) -> None:
        raise ConnectionError("nobody listens")


async def test_a_queue_that_fails_breaks_nobody_and_what_was_lost_is_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    handler = StreamHandler(Broken())
    with caplog.at_level(logging.WARNING):
        workflow = await handler.start_workflow("x")
        agent = await handler.start_agent("main")
        await handler.start_llm("main")
        await handler.message("m", "x")
        await handler.tool_call("search", {"q": "x"}, tool_call_id="c")
        await handler.tool_call("search", {"result": "y"}, tool_call_id="c")
        await handler.update("anything", {})
        await handler.end_llm("main")
        await handler.end_agent("main", agent)
        await handler.show_error("e")
        await handler.end_workflow(workflow)
        await handler.flush()
    assert isinstance(handler.sink, QueueSink)
    assert handler.sink.lost == 12  # the end mark among them
    assert len(caplog.records) == 12
    assert {record.levelname for record in caplog.records} == {"WARNING"}


async def test_a_cancelled_speaker_is_cancelled_although_its_queue_is_full() -> None:
    queue = Queue(maxsize=1)
    handler = StreamHandler(queue)
    await handler.say(v.Status(message="x"))
    speaker = asyncio.create_task(handler.say(v.Status(message="y")))
    await asyncio.sleep(0.01)
    assert not speaker.done()
    speaker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await speaker
