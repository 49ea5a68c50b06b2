"""A model that plays a script: `RESEARCH_MODEL=scripted:/path/to/script.json`.

It streams, waits, fails and is cancelled like a model on the network, and notes down each call, so
a test can prove that what was finished is not paid for again. The format stands in `script.py`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from .request import Request
from .script import Fault, Finish, Output, Rule, Step, Text, ToolCall, Wait, filled, load

# A word with the blank before it, cut where a script without blanks would make it long.
PIECES = re.compile(r"\s*\S{1,12}|\s+")


class ScriptedModel(Model):
    """Reply what the script says."""

    def __init__(self, path: str | Path) -> None:
        super().__init__()
        self.path = Path(path)
        self.script = load(self.path)
        self.calls = self.path.parent / self.script.calls if self.script.calls else None
        self._counts: Counter[str] = Counter()

    @property
    def model_name(self) -> str:
        """Return the name of the script."""
        return self.path.stem

    @property
    def system(self) -> str:
        """Return the name of the provider."""
        return "scripted"

    @property
    def provider(self) -> None:
        """There is none to connect to."""
        return None

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Play a reply to its end and return it whole."""
        stream = self.request_stream(messages, model_settings, model_request_parameters)
        async with stream as response:
            async for _ in response:
                pass
            return response.get()

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Play a reply as it is streamed."""
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        request = Request.of(messages, parameters)
        rule = self.script.rule_for(request, self._count)
        if rule is None:
            raise UnexpectedModelBehavior(f"No rule of {self.path.name} is for this request.")
        self._note(request, rule, "started")
        outcome = "cancelled"
        try:
            opening = list(takewhile(_is_before_the_stream, rule.reply))
            for step in opening:
                await _go_wrong(step, self.model_name)
            response = ScriptedResponse(
                parameters, self.model_name, rule.reply[len(opening) :], request
            )
            yield response
            outcome = "finished" if response.ended else "cancelled"
        except Exception:
            outcome = "failed"
            raise
        finally:
            self._note(request, rule, outcome)

    def _count(self, rule: str) -> int:
        self._counts[rule] += 1
        return self._counts[rule]

    def _note(self, request: Request, rule: Rule, outcome: str) -> None:
        if self.calls is None:
            return
        line = {
            "time": time.time(),
            "rule": rule.name,
            "turn": request.turn,
            "prompt": hashlib.sha256(request.prompt.encode()).hexdigest()[:16],
            "outcome": outcome,
        }
        with self.calls.open("a") as file:  # one short write: lines of two processes do not mix
            file.write(json.dumps(line) + "\n")


def _is_before_the_stream(step: Step) -> bool:
    return isinstance(step, Wait) or (isinstance(step, Fault) and step.fault != "empty")


async def _go_wrong(step: Step, model_name: str) -> None:
    """Wait, or fail as the step says."""
    if isinstance(step, Wait):
        await asyncio.sleep(step.wait)
    elif isinstance(step, Fault):
        if step.fault == "http":
            raise ModelHTTPError(
                step.status, model_name, {"message": step.message}, retry_after=step.retry_after
            )
        if step.fault == "cut":
            raise ModelConnectionError(model_name, "The connection was cut.", phase=None)
        if step.fault == "hang":
            await asyncio.Event().wait()


@dataclass
class ScriptedResponse(StreamedResponse):
    """One reply, being played."""

    _model_name: str
    steps: list[Step]
    request: Request
    ended: bool = field(default=False, init=False)
    _timestamp: datetime = field(default_factory=lambda: datetime.now(UTC), init=False)

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        self._usage = RequestUsage(input_tokens=1 + len(self.request.prompt) // 4)
        for number, step in enumerate(self.steps):
            if isinstance(step, Fault) and step.fault == "empty":
                break
            match step:
                case Text():
                    async for event in self._text(number, step):
                        yield event
                case ToolCall(tool=tool, args=args):
                    yield self._call(number, tool, args)
                case Output(output=output):
                    if self.request.output_tool:
                        yield self._call(number, self.request.output_tool, output)
                    else:
                        async for event in self._text(number, Text(text=[json.dumps(output)])):
                            yield event
                case Finish(finish=reason):
                    self.finish_reason = reason
                case _:
                    await _go_wrong(step, self._model_name)
        self.ended = True

    async def _text(self, number: int, step: Text) -> AsyncIterator[ModelResponseStreamEvent]:
        text = filled(step.text or step.thinking, self.request)
        pieces = PIECES.findall(text) if isinstance(text, str) else text
        for _ in range(step.times):
            for piece in pieces:
                await asyncio.sleep(step.delay)
                self._usage += RequestUsage(output_tokens=1)
                for event in self._delta(number, piece, thought=not step.text):
                    yield event

    def _delta(
        self, number: int, piece: str, *, thought: bool
    ) -> Iterator[ModelResponseStreamEvent]:
        if thought:
            return self._parts_manager.handle_thinking_delta(vendor_part_id=number, content=piece)
        return self._parts_manager.handle_text_delta(vendor_part_id=number, content=piece)

    def _call(self, number: int, tool: str, args: dict[str, Any] | str) -> ModelResponseStreamEvent:
        self._usage += RequestUsage(output_tokens=8)
        return self._parts_manager.handle_tool_call_part(
            vendor_part_id=number, tool_name=tool, args=filled(args, self.request)
        )

    async def close_stream(self) -> None:
        """Close nothing: there is no connection."""

    @property
    def model_name(self) -> str:
        """Return the name of the script."""
        return self._model_name

    @property
    def provider_name(self) -> str:
        """Return the name of the provider."""
        return "scripted"

    @property
    def provider_url(self) -> None:
        """There is none."""
        return None

    @property
    def timestamp(self) -> datetime:
        """Return when the reply began."""
        return self._timestamp
