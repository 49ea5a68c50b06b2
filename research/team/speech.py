"""speech: an agent's run, said aloud: each model request, each piece of text, each refused call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID, uuid4

from pydantic_ai import Agent
from pydantic_ai import messages as m
from pydantic_ai.models import Model
from pydantic_ai.usage import UsageLimits

from research.actions.steer import hear, waits
from research.actions.works import put_aside
from research.context import WorkContext
from research.models import Run, RunStatus
from research.tools.use import Uses
from streaming import vocabulary as v
from streaming.handler import MessageKind, StreamHandler

from .prompts import steer_prompt
from .talk import PutAside, Talk

Out = TypeVar("Out")

LIMITS = UsageLimits(request_limit=25, tool_calls_limit=60)


class Speech:
    """Says what one agent of one piece of work does, as it does it."""

    def __init__(self, context: WorkContext, agent_name: str, model: Model) -> None:
        self.context = context
        self.handler: StreamHandler = context.handler
        self.agent_name = agent_name
        self.model = model
        self._as: tuple[MessageKind, str | None, int | None] = ("text", None, None)
        self._messages: dict[int, str] = {}
        self._thoughts: dict[int, tuple[str, list[str]]] = {}
        self._known: set[int] = set()

    async def converse(
        self,
        agent: Agent[Uses, Out],
        prompt: str,
        *,
        kind: MessageKind = "text",
        title: str | None = None,
        section: int | None = None,
    ) -> Out:
        """Run the agent to its end, and return its output; `PutAside` where its run is paused.

        A talk that was put aside goes on where it was, and takes no prompt.
        """
        agent_id = await self.handler.start_agent(self.agent_name, self.context.member)
        self._as = (kind, title, section)
        before = Talk.of(self.context.talk)
        self._known = set(before.steers)
        async with agent.iter(
            None if before.messages else prompt,
            message_history=before.messages or None,
            deps=Uses(self.context),
            model=self.model,
            usage=before.usage,
            usage_limits=LIMITS,
        ) as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    await self._heed(node, run.ctx.state)
                    await self._request(node, run.ctx)
                elif Agent.is_call_tools_node(node):
                    async with node.stream(run.ctx) as events:
                        async for event in events:
                            await self._tool_event(event)
            assert run.result is not None
            output = run.result.output
        await self.handler.end_agent(self.agent_name, agent_id)
        return output

    async def _heed(self, node: Any, state: Any) -> None:
        """Before a model is asked: wait where the run is paused, and add what people said."""
        context, known = self.context, self._known
        paused, steered = await context.readers.run(
            _news, context.run.id, context.member, tuple(known)
        )
        if paused:
            talk = Talk([*state.message_history, node.request], known, state.usage)
            if await context.act(put_aside(context.name, talk.kept())):
                raise PutAside
        if steered:
            told = await context.act(hear(context.name, tuple(known)))
            parts = [m.UserPromptPart(steer_prompt(item.by, item.text)) for item in told]
            node.request = replace(node.request, parts=[*node.request.parts, *parts])
            known.update(item.number for item in told)

    async def _request(self, node: Any, ctx: Any) -> None:
        await self.handler.start_llm(self.agent_name, model=self.model.model_name)
        self._messages, self._thoughts = {}, {}
        async with node.stream(ctx) as stream:
            async for event in stream:
                await self._part_event(event)
        for index in [*self._messages, *self._thoughts]:
            await self._end_part(index)
        response = stream.response
        await self.handler.end_llm(
            self.agent_name,
            finish_reason=response.finish_reason,
            input_tokens=response.usage.input_tokens,
            output_tokens=response.usage.output_tokens,
        )

    async def _part_event(self, event: Any) -> None:
        match event:
            case m.PartStartEvent(part=m.TextPart() as part):
                await self._end_part(event.index)
                kind, title, section = self._as
                message_id = await self.handler.start_message(kind, title, section)
                self._messages[event.index] = message_id
                await self.handler.message(message_id, part.content)
            case m.PartDeltaEvent(delta=m.TextPartDelta() as delta):
                await self.handler.message(self._messages[event.index], delta.content_delta)
            case m.PartStartEvent(part=m.ThinkingPart() as part):
                thought = str(uuid4())
                self._thoughts[event.index] = (thought, [])
                await self.handler.say(v.ReasoningStarted(message_id=thought))
                await self._think(event.index, part.content)
            case m.PartDeltaEvent(delta=m.ThinkingPartDelta() as delta):
                await self._think(event.index, delta.content_delta or "")
            case m.PartEndEvent():
                await self._end_part(event.index)

    async def _think(self, index: int, text: str) -> None:
        thought, pieces = self._thoughts[index]
        if text:
            pieces.append(text)
            await self.handler.say(v.ReasoningDelta(message_id=thought, delta=text))

    async def _end_part(self, index: int) -> None:
        if message_id := self._messages.pop(index, None):
            await self.handler.end_message(message_id)
        if thought := self._thoughts.pop(index, None):
            text = "".join(thought[1])
            await self.handler.say(v.ReasoningCompleted(message_id=thought[0], text=text))

    async def _tool_event(self, event: Any) -> None:
        """Show a call that never reached its tool: wrong arguments, or no such tool."""
        match event:
            case m.FunctionToolResultEvent(part=m.ToolReturnPart(outcome="retried") as part):
                if part.retry is None or part.retry.cause == "model_retry":
                    return  # the tool itself has told of it
                tool_call_id = f"call_{uuid4().hex}"
                await self.handler.say(
                    v.ToolStarted(tool_call_id=tool_call_id, tool=part.tool_name)
                )
                refused = v.ToolFinished(
                    tool_call_id=tool_call_id,
                    tool=part.tool_name,
                    status="error",
                    result=str(part.content)[:2000],
                    code="bad_arguments",
                )
                await self.handler.say(refused)


def _news(run_id: UUID, member: str, known: tuple[int, ...]) -> tuple[bool, bool]:
    """Return whether the run is paused, and whether something was said that is not known."""
    paused = Run.objects.filter(pk=run_id, status=RunStatus.PAUSED).exists()
    return paused, waits(run_id, member, known)
