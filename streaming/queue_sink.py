"""QueueSink: a handler's events in a queue, in the words of the workflow protocol."""

from __future__ import annotations

import logging
from typing import Any, Protocol
from uuid import uuid4

from . import vocabulary as v
from .events import Data, Voice

logger = logging.getLogger(__name__)


class SupportsPut(Protocol):
    """A queue, as asyncio has them."""

    async def put(self, item: Any) -> Any:
        """Put an item in."""


class QueueSink:
    """Puts `{"event", "data"}` into a queue, in the words of the workflow protocol.

    A queue that fails never breaks who speaks; what was lost is counted. `None` is put at most
    once: behind an error that is shown, or behind the end of the workflow.
    """

    def __init__(self, queue: SupportsPut) -> None:
        self._queue = queue
        self._ended = False
        self.lost = 0

    async def emit(self, voice: Voice, data: Data, type: str = "") -> None:
        """Put the event, and the end mark behind one that ends."""
        item = envelope(voice, data, type)
        if item is not None:
            await self._put(item)
        if isinstance(data, v.ErrorShown):
            await self.end()

    async def start_workflow(self, user_input: str) -> str:
        """Put the start of a workflow, and return its id."""
        workflow_id = str(uuid4())
        said = [{"role": "user", "content": user_input}]
        await self._put(_said("start_of_workflow", workflow_id=workflow_id, input=said))
        return workflow_id

    async def end_workflow(self, workflow_id: str) -> None:
        """Put the end of a workflow, and the end mark."""
        await self._put(_said("end_of_workflow", workflow_id=workflow_id))
        await self.end()

    async def end(self) -> None:
        """Put the end mark, once."""
        if not self._ended:
            self._ended = True
            await self._put(None)

    async def flush(self) -> None:
        """Do nothing: a queue holds nothing back."""

    async def _put(self, item: Any) -> None:
        try:
            await self._queue.put(item)
        except Exception as error:
            self.lost += 1
            logger.warning("an event did not reach its queue (%d lost): %s", self.lost, error)


def envelope(voice: Voice, data: Data, type: str = "") -> dict[str, Any] | None:
    """Return an event as the workflow protocol says it, or None where it has no word for it."""
    match data:
        case v.AgentStarted():
            return _said(
                "start_of_agent",
                agent_name=data.agent_name,
                display_name=data.display_name,
                agent_id=voice.agent_id,
            )
        case v.AgentFinished():
            return _said("end_of_agent", agent_name=data.agent_name, agent_id=voice.agent_id)
        case v.LLMStarted():
            names = {"agent_name": data.agent_name, "display_name": data.display_name}
            return _said("start_of_llm", **names)
        case v.LLMFinished():
            return _said("end_of_llm", agent_name=data.agent_name)
        case v.MessageDelta():
            return _said("message", message_id=data.message_id, delta={"content": data.delta})
        case v.ToolStarted() if data.args is not None:
            return _tool(data.tool_call_id, data.tool, tool_input=data.args)
        case v.ToolArgs():
            return _tool(data.tool_call_id, data.tool or "", delta_input=data.delta)
        case v.ToolFinished():
            return _tool(data.tool_call_id, data.tool, tool_input={"result": data.result})
        case v.ErrorShown():
            return _tool(data.error_id or "", "show_error", tool_input={"error": data.message})
        case v.MessageStarted() | v.MessageCompleted() | v.ToolStarted():
            return None
        case v.Custom():
            return _said(type.removeprefix("custom."), **data.model_dump())
    return _said(data.type, **data.model_dump(exclude_none=True))


def _said(event: str, /, **data: Any) -> dict[str, Any]:
    return {"event": event, "data": data}


def _tool(tool_call_id: str, tool_name: str, **rest: Any) -> dict[str, Any]:
    return _said("tool_call", tool_call_id=tool_call_id, tool_name=tool_name, **rest)
