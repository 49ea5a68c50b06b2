"""`KeylessModel`: a pydantic-ai model like any other, whose answers come from rules."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    ModelResponseStreamEvent,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext
from pydantic_ai.usage import RequestUsage

from research.llm.keyless.planning import MOST, Step, plan
from research.llm.keyless.prompts import read_prompt
from research.llm.keyless.researching import research, steers
from research.llm.keyless.writing import write

NAME = "keyless"
_PIECE = re.compile(r"\S{1,24}\s*|\s+")
_PIECES_A_TURN = 16


def _plans(params: ModelRequestParameters) -> str | None:
    """Return the output tool that takes a plan, "" for a plan as text, None for no plan."""
    for tool in params.output_tools:
        if "tasks" in tool.parameters_json_schema.get("properties", {}):
            return tool.name
    output = params.output_object
    if output is not None and "tasks" in output.json_schema.get("properties", {}):
        return ""
    return None


def _plan(messages: Sequence[ModelMessage], tool: str) -> list[ModelResponsePart]:
    prompt = read_prompt(messages)
    steps = plan(prompt.question, prompt.language)
    steps += [Step(text[:300], "", text) for text in steers(prompt)][: max(0, MOST - len(steps))]
    answer = {"tasks": [asdict(step) for step in steps]}
    if tool:
        return [ToolCallPart(tool, answer)]
    part = ToolCallPart("plan", answer)
    return [TextPart(part.args_as_json_str())]


def respond(
    messages: Sequence[ModelMessage], params: ModelRequestParameters
) -> list[ModelResponsePart]:
    """Return the answer to a conversation; what the request offers tells which role it is."""
    plans = _plans(params)
    if plans is not None:
        return _plan(messages, plans)
    if {"search", "note"} <= {tool.name for tool in params.function_tools}:
        return research(messages)
    return write(messages)


def _size(parts: Iterable[ModelResponsePart]) -> int:
    """Return about how many tokens an answer has."""
    total = 0
    for part in parts:
        if isinstance(part, TextPart):
            total += len(part.content)
        elif isinstance(part, ToolCallPart):
            total += len(part.args_as_json_str())
    return max(1, total // 4)


def _usage(messages: Sequence[ModelMessage], parts: Sequence[ModelResponsePart]) -> RequestUsage:
    read = 0
    for message in messages:
        if isinstance(message, ModelRequest):
            read += sum(len(str(getattr(part, "content", ""))) for part in message.parts)
    return RequestUsage(input_tokens=read // 4, output_tokens=_size(parts))


@dataclass
class KeylessStream(StreamedResponse):
    """Streams a finished answer: text word by word, each tool call at once."""

    answer: Sequence[ModelResponsePart]
    used: RequestUsage
    _timestamp: datetime = field(default_factory=lambda: datetime.now(UTC), init=False)

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        self._usage += self.used
        self.finish_reason = "stop"
        for index, part in enumerate(self.answer):
            if isinstance(part, ToolCallPart):
                self.finish_reason = "tool_call"
                yield self._parts_manager.handle_tool_call_part(
                    vendor_part_id=index,
                    tool_name=part.tool_name,
                    args=part.args if isinstance(part.args, str) else part.args_as_dict(),
                    tool_call_id=part.tool_call_id,
                )
            elif isinstance(part, TextPart):
                for count, piece in enumerate(_PIECE.findall(part.content)):
                    if self._cancelled:
                        return
                    if count % _PIECES_A_TURN == _PIECES_A_TURN - 1:
                        await asyncio.sleep(0)  # let the others on this loop speak
                    for event in self._parts_manager.handle_text_delta(
                        vendor_part_id=index, content=piece
                    ):
                        yield event

    async def close_stream(self) -> None:
        """Close nothing: there is no connection."""

    @property
    def model_name(self) -> str:
        """Return the model's name."""
        return NAME

    @property
    def provider_name(self) -> str:
        """Return the provider's name."""
        return NAME

    @property
    def provider_url(self) -> str | None:
        """Return None: there is no address."""
        return None

    @property
    def timestamp(self) -> datetime:
        """Return when the answer was made."""
        return self._timestamp


class KeylessModel(Model[Any]):
    """Plans, researches and writes by rule; needs no key and no network.

    Which role it plays it tells from the request, as any model must: an output tool that takes
    `tasks` makes it the leader, the tools `search` and `note` make it a researcher, neither makes
    it the writer. It has no memory but the conversation. The work runs in a thread.
    """

    def __init__(self) -> None:
        super().__init__(profile=ModelProfile(supports_json_schema_output=True))

    @property
    def model_name(self) -> str:
        """Return its name."""
        return NAME

    @property
    def system(self) -> str:
        """Return the name of its provider, which is itself."""
        return NAME

    @property
    def provider(self) -> None:
        """Return None: nobody provides it."""
        return None

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Return the answer to a conversation."""
        _, params = self.prepare_request(model_settings, model_request_parameters)
        parts = await asyncio.to_thread(respond, messages, params)
        calls = any(isinstance(part, ToolCallPart) for part in parts)
        return ModelResponse(
            parts=parts,
            usage=_usage(messages, parts),
            model_name=NAME,
            provider_name=NAME,
            finish_reason="tool_call" if calls else "stop",
        )

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Stream the answer to a conversation."""
        _, params = self.prepare_request(model_settings, model_request_parameters)
        parts = await asyncio.to_thread(respond, messages, params)
        yield KeylessStream(
            model_request_parameters=params, answer=parts, used=_usage(messages, parts)
        )

    async def count_tokens(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> RequestUsage:
        """Return about how many tokens a conversation has."""
        return _usage(messages, ())
