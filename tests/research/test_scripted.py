"""The model that plays a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from pydantic_ai import Agent, ToolReturn
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelRequest, PartDeltaEvent, PartStartEvent, TextPart
from pydantic_ai.models import ModelRequestParameters

from research.llm.request import Request
from research.llm.script import filled
from research.llm.scripted import PIECES, ScriptedModel
from research.team.prompts import plan_prompt

Play = Callable[..., ScriptedModel]


class Plan(BaseModel):
    tasks: list[str]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    def make(*rules: dict[str, Any]) -> ScriptedModel:
        path = tmp_path / "script.json"
        path.write_text(json.dumps({"calls": "calls.jsonl", "rules": rules}))
        return ScriptedModel(path)

    return make


def calls_of(model: ScriptedModel) -> list[tuple[str, str]]:
    assert model.calls
    lines = [json.loads(line) for line in model.calls.read_text().splitlines()]
    return [(line["rule"], line["outcome"]) for line in lines]


def researcher(model: ScriptedModel) -> Agent[None, str]:
    agent = Agent(model, instructions="You research.")

    @agent.tool_plain
    def search(query: str) -> ToolReturn[str]:
        passage = {"source": 12, "start": 100, "end": 140, "text": f"About {query}. And more."}
        return ToolReturn(return_value="[S12:100-140] …", metadata={"passages": [passage]})

    return agent


async def test_the_output_tool_is_called_with_the_plan(play: Play) -> None:
    model = play(
        {"name": "plan", "when": {"output": True}, "reply": [{"output": {"tasks": ["a"]}}]}
    )
    result = await Agent(model, output_type=Plan).run("question")
    assert result.output == Plan(tasks=["a"])
    assert calls_of(model) == [("plan", "started"), ("plan", "finished")]


async def test_a_researcher_cites_what_the_search_returned(play: Play) -> None:
    model = play(
        {
            "name": "search",
            "when": {"tools": ["search"], "turn": 1},
            "reply": [{"tool": "search", "args": {"query": "{tag:query}"}}],
        },
        {"name": "summary", "reply": [{"text": "Found: {passage:0} {passage:7}"}]},
    )
    result = await researcher(model).run('<task id="1">T</task><query>a &lt; b</query>')
    assert result.output == "Found: About a < b. [S12:100-112] "
    assert [rule for rule, _ in calls_of(model)] == ["search"] * 2 + ["summary"] * 2


async def test_a_text_is_streamed_piece_by_piece(play: Play) -> None:
    model = play({"name": "write", "reply": [{"text": ["一", "二 ", "three"], "times": 2}]})
    pieces: list[str] = []
    async with Agent(model).iter("question") as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as stream:
                    async for event in stream:
                        if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                            pieces.append(event.part.content)
                        elif isinstance(event, PartDeltaEvent):
                            pieces.append(getattr(event.delta, "content_delta", ""))
    assert pieces == ["一", "二 ", "three"] * 2


async def test_a_rule_holds_only_where_all_that_it_names_holds(play: Play) -> None:
    model = play(
        {"name": "no", "when": {"prompt": "blue", "instructions": "You sing"}, "reply": []},
        {"name": "no tool", "when": {"tools": ["search", "note"]}, "reply": []},
        {"name": "yes", "when": {"pattern": "re+d", "output": False}, "reply": [{"text": "ok"}]},
    )
    assert (await researcher(model).run("reed and blue")).output == "ok"


async def test_a_fault_comes_at_its_call_and_the_next_one_goes_on(play: Play) -> None:
    busy = {"fault": "http", "status": 429, "retry_after": 3}
    model = play(
        {"name": "busy", "when": {"call": 1}, "reply": [busy]},
        {"name": "write", "reply": [{"text": "done"}]},
    )
    with pytest.raises(ModelHTTPError) as failure:
        await Agent(model).run("question")
    assert (failure.value.status_code, failure.value.retry_after) == (429, 3)
    assert (await Agent(model).run("question")).output == "done"
    assert calls_of(model) == [
        ("busy", "started"), ("busy", "failed"), ("write", "started"), ("write", "finished"),
    ]  # fmt: skip


async def test_a_cut_comes_after_the_text_before_it(play: Play) -> None:
    model = play({"name": "cut", "reply": [{"text": "half "}, {"fault": "cut"}, {"text": "never"}]})
    seen = []
    with pytest.raises(ModelConnectionError):
        async with Agent(model).run_stream("question") as stream:
            async for text in stream.stream_text(delta=True, debounce_by=None):
                seen.append(text)
    assert "".join(seen) == "half "
    assert calls_of(model)[-1] == ("cut", "failed")


async def test_an_empty_reply_is_what_a_model_must_not_give(play: Play) -> None:
    model = play({"name": "empty", "reply": [{"fault": "empty"}, {"text": "never"}]})
    with pytest.raises(UnexpectedModelBehavior):
        await Agent(model, retries=0).run("question")


@pytest.mark.parametrize("reply", [[{"fault": "hang"}], [{"text": "a "}, {"fault": "hang"}]])
async def test_a_cancelled_call_is_noted_as_cancelled(
    play: Play, reply: list[dict[str, Any]]
) -> None:
    model = play({"name": "hang", "reply": reply})
    task = asyncio.create_task(Agent(model).run("question"))
    while not (model.calls and model.calls.exists()):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls_of(model) == [("hang", "started"), ("hang", "cancelled")]


async def test_a_request_that_no_rule_is_for_is_told(play: Play) -> None:
    model = play({"name": "other", "when": {"prompt": "x"}, "reply": []})
    with pytest.raises(UnexpectedModelBehavior, match="No rule"):
        await Agent(model).run("question")


def test_a_misspelt_script_is_refused(play: Play) -> None:
    with pytest.raises(ValidationError, match="promt"):
        play({"name": "a", "when": {"promt": "x"}, "reply": []})


@given(st.text())
def test_the_pieces_of_a_text_are_the_text(text: str) -> None:
    assert "".join(PIECES.findall(text)) == text


@given(st.text(alphabet="ab<>&\"'", max_size=20))
def test_a_tag_gives_back_what_the_prompt_escaped(text: str) -> None:
    prompt = ModelRequest.user_text_prompt(plan_prompt(text, "en"))
    request = Request.of([prompt], ModelRequestParameters())
    assert filled({"a": ["{tag:question}"]}, request) == {"a": [text]}
