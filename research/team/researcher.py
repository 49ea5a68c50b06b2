"""A researcher: searches, writes notes, and sums up one task."""

from __future__ import annotations

from pydantic_ai import Agent

from research.actions.plan import finish_task
from research.context import RunFacts, WorkContext
from research.llm.registry import model
from research.models import Task
from research.tools.fetch import fetch
from research.tools.note import note
from research.tools.search.tool import search
from research.tools.use import Uses

from .prompts import RESEARCHER, task_prompt
from .speech import Speech

agent = Agent(
    deps_type=Uses, output_type=str, instructions=RESEARCHER, tools=[search, fetch, note], retries=2
)


async def research(context: WorkContext) -> None:
    """Research the task that the work is about."""
    run = context.run
    prompt = await context.readers.run(_prompt, run, context.number)
    speech = Speech(context, "researcher", model("researcher"))
    summary = await speech.converse(agent, prompt, kind="summary")
    await context.act(finish_task(context.name, summary))


def _prompt(run: RunFacts, task_id: int) -> str:
    task = Task.objects.get(run_id=run.id, task_id=task_id)
    return task_prompt(run.topic, run.language, task_id, task.title, task.intent, task.query)
