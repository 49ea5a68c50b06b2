"""The keyless model as pydantic-ai sees it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolReturn
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    ModelMessagesTypeAdapter,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import UsageLimits

from research.llm.keyless import KeylessModel
from research.llm.keyless.model import respond
from research.team import prompts
from research.team.plan import Plan

QUESTION = "What is a lamp?"
TEXT = "A lamp is a light that warns ships of the rocks at night. It burns oil."


def found(size: int = 1) -> ToolReturn:
    """Return what the search tool returns, with as many passages."""
    passages = [
        {
            "source": number + 1,
            "title": f"Lamps {number}",
            "headings": [f"Lamps {number}"],
            "kind": "prose",
            "start": 10,
            "end": 10 + len(TEXT),
            "score": 1.0,
            "text": TEXT.replace("oil", f"oil{number}") * (1 if size == 1 else 12),
        }
        for number in range(size)
    ]
    return ToolReturn(
        return_value="passages",
        metadata={"documents": 90, "frequencies": {"lamp": 3}, "passages": passages, "outline": []},
    )


def researcher(size: int = 1) -> Agent[None, str]:
    agent = Agent(KeylessModel(), instructions=prompts.RESEARCHER)

    @agent.tool_plain
    async def search(query: str) -> ToolReturn:
        return found(size)

    @agent.tool_plain
    async def note(action: str, title: str, content: str, note_type: str, tags: list[str]) -> str:
        return "written"

    return agent


INTENT = "Say what it is and what it is for."
TASK = prompts.task_prompt(QUESTION, "en", 1, QUESTION, INTENT, QUESTION)


async def test_a_plan_comes_through_the_output_tool() -> None:
    agent = Agent(KeylessModel(), output_type=Plan)
    result = await agent.run(prompts.plan_prompt(QUESTION, "en"))
    assert result.output.tasks[0].title == QUESTION


@pytest.mark.parametrize("form", [NativeOutput, PromptedOutput])
async def test_a_plan_comes_as_text_where_text_is_asked_for(form: Callable[..., Any]) -> None:
    agent = Agent(KeylessModel(), output_type=form(Plan))
    result = await agent.run(prompts.plan_prompt(QUESTION, "en"))
    assert result.output.tasks[0].title == QUESTION


async def test_a_plan_can_be_streamed() -> None:
    agent = Agent(KeylessModel(), output_type=Plan)
    async with agent.run_stream(prompts.plan_prompt(QUESTION, "en")) as stream:
        plan = await stream.get_output()
    assert plan.tasks[0].title == QUESTION


async def test_text_is_streamed_in_small_pieces_that_make_the_whole() -> None:
    pieces: list[str] = []
    async with researcher().iter(TASK) as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as stream:
                    async for event in stream:
                        if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                            pieces.append(event.part.content)
                        elif isinstance(event, PartDeltaEvent):
                            assert isinstance(event.delta, TextPartDelta)
                            pieces.append(event.delta.content_delta)
    assert run.result is not None
    assert "".join(pieces) == run.result.output
    assert len(pieces) > 5
    assert max(map(len, pieces)) < 60


async def test_the_same_answer_is_streamed_and_returned() -> None:
    agent = researcher()
    plain = await agent.run(TASK)
    async with agent.run_stream(TASK) as stream:
        assert await stream.get_output() == plain.output


async def test_tools_are_called_in_the_order_search_note_summary() -> None:
    called: list[str] = []

    async def watch(context: Any, events: Any) -> None:
        async for event in events:
            if isinstance(event, FunctionToolCallEvent):
                called.append(event.part.tool_name)

    await researcher().run(TASK, event_stream_handler=watch)
    assert called == ["search", "note"]


async def test_the_evidence_survives_a_history_as_json() -> None:
    agent = researcher()
    result = await agent.run(TASK)
    messages = result.all_messages()
    again = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))
    cut = again[:3]  # prompt, search call, search return
    tools = [ToolDefinition(name=name) for name in ("search", "note")]
    parts = respond(cut, ModelRequestParameters(function_tools=tools))
    assert [getattr(part, "tool_name", "") for part in parts] == ["note"]


async def test_two_tools_without_a_search_are_not_a_researcher() -> None:
    agent = Agent(KeylessModel())

    @agent.tool_plain
    async def clock() -> str:
        raise AssertionError("nobody asked for the time")

    assert "do not answer" in (await agent.run("What is the time?")).output


async def test_usage_is_counted_and_limits_hold() -> None:
    result = await researcher().run(TASK, usage_limits=UsageLimits(request_limit=5))
    usage = result.usage
    assert usage.requests == 3
    assert usage.input_tokens > 0
    assert usage.output_tokens > 0


async def test_tokens_can_be_counted_before_a_request() -> None:
    limits = UsageLimits(input_tokens_limit=100_000, count_tokens_before_request=True)
    assert (await researcher().run(TASK, usage_limits=limits)).output


async def test_a_stream_that_is_cut_short_says_no_more() -> None:
    agent = researcher()
    async with agent.iter(TASK) as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as stream:
                    async for _ in stream:
                        await stream.cancel()
                break


async def test_ranking_leaves_the_event_loop_free() -> None:
    await researcher(40).run(TASK)  # regular expressions and stems are made once
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            started = time.monotonic()
            await asyncio.sleep(0.001)
            longest = max(longest, time.monotonic() - started)

    ticking = asyncio.create_task(tick())
    started = time.monotonic()
    await researcher(40).run(TASK)
    took = time.monotonic() - started
    ticking.cancel()
    # A thread that computes still takes turns with the loop; it must not hold it for all its time.
    assert longest < max(0.06, took / 3)


async def test_many_runs_side_by_side_do_not_mix() -> None:
    async def ask(name: str) -> str:
        prompt = prompts.task_prompt(name, "en", 1, name, "", name)
        return (await researcher().run(prompt)).output

    answers = await asyncio.gather(*(ask(f"What is a lamp {n}?") for n in range(30)))
    assert all("A lamp is a light" in answer for answer in answers)
