"""The fake server, through the client library that the product uses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator

import pytest
from openai import AsyncOpenAI
from pydantic_ai import Agent, AgentStreamEvent, RunContext
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from research.team.plan import Plan
from tests.fakes.openai_server import FakeOpenAI, Fault


async def _listen(context: RunContext[object], events: AsyncIterable[AgentStreamEvent]) -> None:
    async for _ in events:
        pass


@pytest.fixture
async def fake() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI() as server:
        yield server


@pytest.fixture
async def model(fake: FakeOpenAI) -> AsyncIterator[OpenAIChatModel]:
    async with AsyncOpenAI(base_url=fake.url, api_key="fake", max_retries=0) as client:
        yield OpenAIChatModel("fake", provider=OpenAIProvider(openai_client=client))


async def test_the_leader_plans(model: OpenAIChatModel) -> None:
    result = await Agent(model, output_type=Plan).run("<question>What is it?</question>")
    assert [task.title for task in result.output.tasks] == ["What is it?"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_researcher_searches_notes_and_sums_up(
    model: OpenAIChatModel, fake: FakeOpenAI, streamed: bool
) -> None:
    agent = Agent(model)
    used: list[tuple[str, str]] = []

    @agent.tool_plain
    def search(query: str) -> str:
        used.append(("search", query))
        return "[S3:10-20] A page"

    @agent.tool_plain
    def note(action: str, title: str, content: str) -> str:
        used.append((action, content))
        return "saved"

    prompt = '<task id="1">Its age</task><query>how old</query>'
    handler = _listen if streamed else None
    output = (await agent.run(prompt, event_stream_handler=handler)).output
    assert used == [("search", "how old"), ("create", "- A passage says what this is [S3:10-20]")]
    assert output == "In short: - A passage says what this is [S3:10-20]"
    assert len(fake.requests) == 3


async def test_the_writer_writes_what_the_notes_say(model: OpenAIChatModel) -> None:
    result = await Agent(model).run('<note id="1">- It is 5 &lt; 6 [S1]</note>')
    assert result.output == "- It is 5 < 6 [S1]"
    assert result.usage.output_tokens > 0


async def test_a_fault_is_answered_once(model: OpenAIChatModel, fake: FakeOpenAI) -> None:
    fake.faults = [Fault(status=429, headers={"retry-after": "3"})]
    with pytest.raises(ModelHTTPError) as failure:
        await Agent(model).run("x")
    assert (failure.value.status_code, failure.value.retry_after) == (429, 3)
    assert (await Agent(model).run("x")).output


async def test_a_cut_stream_is_no_whole_answer(model: OpenAIChatModel, fake: FakeOpenAI) -> None:
    fake.faults = [Fault("cut")]
    agent = Agent(model)
    with pytest.raises(ModelAPIError):
        await agent.run("<note>one two three four</note>", event_stream_handler=_listen)
    assert (await agent.run("<note>one</note>", event_stream_handler=_listen)).output == "one"


async def test_the_server_sees_that_a_cancelled_client_left(
    model: OpenAIChatModel, fake: FakeOpenAI
) -> None:
    fake.faults = [Fault("hang")]
    task = asyncio.create_task(Agent(model).run("x"))
    while not fake.requests:
        await asyncio.sleep(0.01)
    assert fake.open == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(100):
        if not fake.open:
            break
        await asyncio.sleep(0.01)
    assert fake.open == 0
