"""What the keyless team does with what a person says to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic_ai import Agent, ToolReturn
from pydantic_ai.messages import ModelRequest, ToolCallPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from research.llm.keyless import KeylessModel
from research.llm.keyless.model import respond
from research.team import prompts
from research.team.plan import Plan
from research.text.markers import find_markers

from .team import Team

Make = Callable[..., Team]
QUESTION = "What is a lamp and how does it work?"
STEER = prompts.steer_prompt("ann", "Why are <horns> used?")


def steered(team: Team, at: int) -> None:
    """Research a task, with a steer in the prompt of the request of that number."""
    task = team.plan(QUESTION)[0]
    agent: Agent[None, str] = Agent(KeylessModel(), instructions=prompts.RESEARCHER)
    prompt = prompts.task_prompt(QUESTION, "en", 1, task.title, task.intent, task.query)

    async def run() -> None:
        asked = 0
        async with agent.iter(prompt) as conversation:
            async for node in conversation:
                if Agent.is_model_request_node(node):
                    asked += 1
                    if asked == at:
                        parts = [*node.request.parts, UserPromptPart(STEER)]
                        node.request = replace(node.request, parts=parts)

    _with_tools(agent, team)
    asyncio.run(run())


def _with_tools(agent: Agent[None, str], team: Team) -> None:
    @agent.tool_plain
    def search(query: str) -> ToolReturn:
        return team.searched(query)

    @agent.tool_plain
    def note(action: str, title: str, content: str, note_type: str, tags: list[str]) -> str:
        told = {"title": title, "content": content, "note_type": note_type, "tags": tags}
        team.note_calls.append({"action": action, **told})
        return "written"


@pytest.mark.parametrize("at", [1, 2, 3])
def test_it_searches_for_it_and_notes_what_it_finds_whenever_it_is_told(
    team: Make, at: int
) -> None:
    asked = team()
    steered(asked, at)
    assert "Why are <horns> used?" in asked.queries
    assert asked.queries.count("Why are <horns> used?") == 1
    (told,) = [call for call in asked.note_calls if "steered" in call["tags"]]
    assert told["title"] == "Why are <horns> used?"
    assert "horn" in told["content"].lower() and list(find_markers(told["content"]))
    assert len(asked.note_calls) >= 2, "its own task is not forgotten"


def test_the_leader_makes_it_a_task_and_keeps_its_own() -> None:
    agent = Agent(KeylessModel(), output_type=Plan)
    own = asyncio.run(agent.run(prompts.plan_prompt(QUESTION, "en"))).output.tasks
    more = asyncio.run(agent.run([prompts.plan_prompt(QUESTION, "en"), STEER])).output.tasks
    assert more[:-1] == own
    assert more[-1].query == "Why are <horns> used?"


def test_what_says_nothing_to_search_for_changes_nothing() -> None:
    prompt = prompts.task_prompt(QUESTION, "en", 1, "Lamps", "", "lamp light")
    plain = _asked(prompt)
    assert plain and _asked(prompt, prompts.steer_prompt("ann", "?!")) == plain


def _asked(*said: str) -> list[Any]:
    messages: list[Any] = [ModelRequest(parts=[UserPromptPart(text) for text in said])]
    parts = respond(messages, _tools())
    return [part.args for part in parts if isinstance(part, ToolCallPart)]


def _tools() -> ModelRequestParameters:
    return ModelRequestParameters(
        function_tools=[ToolDefinition(name="search"), ToolDefinition(name="note")]
    )
