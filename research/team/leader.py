"""The leader: plans."""

from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.exceptions import UnexpectedModelBehavior

from research.actions.plan import propose
from research.context import WorkContext
from research.llm.registry import model
from research.tools.use import Uses

from .plan import Plan, PlannedTask
from .prompts import LEADER, plan_prompt
from .speech import Speech

agent = Agent(deps_type=Uses, output_type=Plan, instructions=LEADER, retries=1)


async def plan(context: WorkContext) -> None:
    """Split the question into tasks, unless they are given.

    A model that cannot leaves one: the question itself.
    """
    run = context.run
    if seed := context.input.get("tasks"):
        await context.act(propose(context.name, [PlannedTask(**task) for task in seed]))
        return
    try:
        speech = Speech(context, "leader", model("leader"))
        made = await speech.converse(agent, plan_prompt(run.topic, run.language, run.earlier))
        tasks = made.tasks
    except UnexpectedModelBehavior:
        await context.handler.show_error("The plan could not be read.", "bad_plan")
        tasks = [PlannedTask(title=run.topic[:200], query=run.topic[:2000])]
    await context.act(propose(context.name, tasks))
