"""StreamHandler: speaks for one member on one lane.

The methods and their meaning are those of the workflow protocol, so that an agent written for it
runs on this one. `StreamHandler(None)` is silent; `StreamHandler(queue)` fills a queue in that
protocol's own words; with a `LogSink` every word stands in the log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, Protocol
from uuid import uuid4

from . import vocabulary as v
from .events import DATA, Data, Ended, Voice
from .queue_sink import QueueSink, SupportsPut
from .sinks import Nowhere, Sink
from .text import clean_json

MessageKind = Literal["text", "summary", "section"]


class Lifecycle(Protocol):
    """Starts and ends a workflow: an action of whoever owns it."""

    async def start_workflow(self, user_input: str) -> str:
        """Start it, and return its id."""

    async def end_workflow(self, workflow_id: str) -> None:
        """End it."""


class StreamHandler:
    """What an agent holds to say what it does."""

    def __init__(
        self,
        stream_queue: Sink | SupportsPut | None = None,
        *,
        voice: Voice | None = None,
        lifecycle: Lifecycle | None = None,
    ) -> None:
        sink: Any = Nowhere() if stream_queue is None else stream_queue
        self.sink: Sink = sink if hasattr(sink, "emit") else QueueSink(sink)
        self.voice = voice or Voice()
        self._lifecycle = lifecycle or (self.sink if isinstance(self.sink, QueueSink) else None)
        self._agents: list[tuple[str, Voice, Voice]] = []  # id, its voice, the voice around it
        self._llms: dict[str, list[str]] = {}
        self._texts: dict[str, list[str]] = {}
        self._tools: dict[str, str] = {}

    # --- everything goes through here ----------------------------------------------------------
    async def say(self, data: Data, type: str = "") -> None:
        """Say one event in this handler's voice."""
        await self.sink.emit(self.voice, data, type)

    async def update(self, event_type: str, data: Mapping[str, Any]) -> None:
        """Say an event of any type; one that is not in the vocabulary becomes `custom.<type>`.

        Raises `ValueError` for the types that only actions write, and for data that does not fit.
        """
        if event_type.startswith("run."):
            raise ValueError("Only actions write run.*")
        if model := DATA.get(event_type):
            await self.say(model.model_validate(dict(data)))
            return
        name = re.sub(r"[^a-z0-9_.-]", "_", event_type.removeprefix("custom.").lower())
        if not v.CUSTOM.fullmatch(f"custom.{name}"):
            raise ValueError(f"{event_type!r} cannot be the name of an event.")
        await self.say(v.Custom.model_validate(clean_json(dict(data))), f"custom.{name}")

    async def flush(self) -> None:
        """Wait until everything that was said is committed."""
        await self.sink.flush()

    # --- the workflow --------------------------------------------------------------------------
    async def start_workflow(self, user_input: str) -> str:
        """Start the workflow, and return its id."""
        if self._lifecycle:
            return await self._lifecycle.start_workflow(user_input)
        return str(uuid4())

    async def end_workflow(self, workflow_id: str) -> None:
        """End the workflow."""
        if self._lifecycle:
            await self._lifecycle.end_workflow(workflow_id)

    async def show_error(self, error: str, code: str = "error") -> None:
        """Show an error. The run goes on; only an action ends it."""
        await self.say(v.ErrorShown(message=error, code=code, error_id=str(uuid4())))

    # --- agents and models ---------------------------------------------------------------------
    async def start_agent(self, agent_name: str, display_name: str | None = None) -> str:
        """Begin an activity, and return its `agent_id`; what is said until its end is its own."""
        agent_id = str(uuid4())
        outer = self.voice
        self.voice = outer.within(agent_id=agent_id, parent_id=outer.agent_id or outer.parent_id)
        self._agents.append((agent_id, self.voice, outer))
        await self.say(v.AgentStarted(agent_name=agent_name, display_name=display_name))
        return agent_id

    async def end_agent(self, agent_name: str, agent_id: str, status: Ended = "completed") -> None:
        """End an activity. One that was not started here says nothing."""
        at = next((i for i, (id, _, _) in enumerate(self._agents) if id == agent_id), None)
        if at is None:
            return
        _, own, outer = self._agents.pop(at)
        if at < len(self._agents):  # one that began inside it goes on without it
            inner_id, inner, _ = self._agents[at]
            self._agents[at] = (inner_id, inner, outer)
        else:
            self.voice = outer
        await self.sink.emit(own, v.AgentFinished(agent_name=agent_name, status=status))

    async def start_llm(
        self, agent_name: str, display_name: str | None = None, model: str | None = None
    ) -> str:
        """Say that a model is asked, and return the id of the question."""
        llm_id = str(uuid4())
        self._llms.setdefault(agent_name, []).append(llm_id)
        await self.say(
            v.LLMStarted(
                llm_id=llm_id, agent_name=agent_name, display_name=display_name, model=model
            )
        )
        return llm_id

    async def end_llm(
        self,
        agent_name: str,
        *,
        status: Ended = "completed",
        finish_reason: str | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
    ) -> None:
        """Say that the model has answered: the question that was asked last."""
        if asked := self._llms.get(agent_name):
            await self.say(
                v.LLMFinished(
                    llm_id=asked.pop(),
                    agent_name=agent_name,
                    status=status,
                    finish_reason=finish_reason,
                    input_tokens=input_tokens,
                    output_tokens=output_tokens,
                )
            )

    # --- text ----------------------------------------------------------------------------------
    async def start_message(
        self, kind: MessageKind = "text", title: str | None = None, section: int | None = None
    ) -> str:
        """Begin a message, and return its id."""
        message_id = str(uuid4())
        await self._open_message(message_id, kind, title, section)
        return message_id

    async def message(self, message_id: str, delta_content: str) -> None:
        """Say a piece of a message; the first piece of an unknown one begins it."""
        if message_id not in self._texts:
            await self._open_message(message_id, "text", None, None)
        if delta_content:
            self._texts[message_id].append(delta_content)
            await self.say(v.MessageDelta(message_id=message_id, delta=delta_content))

    async def end_message(self, message_id: str, status: Ended = "completed") -> str:
        """End a message, and return its whole text."""
        text = "".join(self._texts.pop(message_id, ()))
        await self.say(v.MessageCompleted(message_id=message_id, text=text, status=status))
        return text

    async def _open_message(
        self, message_id: str, kind: MessageKind, title: str | None, section: int | None
    ) -> None:
        self._texts[message_id] = []
        await self.say(
            v.MessageStarted(message_id=message_id, kind=kind, title=title, section=section)
        )

    # --- tools ---------------------------------------------------------------------------------
    async def tool_call(
        self,
        tool_name: str,
        payload: Mapping[str, Any],
        streaming: bool = False,
        tool_call_id: str | None = None,
    ) -> str:
        """Say a use of a tool, and return its id.

        A new id begins it (key by key where `streaming`); the same id with `result` in the payload
        ends it. `show_error` is what its name says.
        """
        if tool_name == "show_error":
            await self.show_error(str(payload.get("error", "")))
            return tool_call_id or str(uuid4())
        tool_call_id = tool_call_id or str(uuid4())
        if tool_call_id not in self._tools:
            self._tools[tool_call_id] = tool_name
            args = None if streaming else dict(payload)
            await self.say(v.ToolStarted(tool_call_id=tool_call_id, tool=tool_name, args=args))
        elif "result" in payload and not streaming:
            del self._tools[tool_call_id]
            result = str(payload["result"])
            await self.say(v.ToolFinished(tool_call_id=tool_call_id, tool=tool_name, result=result))
        if streaming:
            for key, value in payload.items():
                await self.say(
                    v.ToolArgs(tool_call_id=tool_call_id, tool=tool_name, delta={key: value})
                )
        return tool_call_id
