"""A team of three agents that do what the engine's do, with tools inside the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic_ai import Agent, ModelRetry, ToolReturn

from research.llm.keyless import KeylessModel
from research.team import prompts
from research.team.plan import Plan, PlannedTask
from research.text.language import language
from research.tools.search.base import Passage, SearchResult

Search = Callable[[str], SearchResult]


@dataclass
class Team:
    """Runs a question from its plan to its report; remembers what was called."""

    find: Search
    failing: int = 0
    queries: list[str] = field(default_factory=list)
    notes: list[prompts.NoteText] = field(default_factory=list)
    note_calls: list[dict[str, Any]] = field(default_factory=list)
    archives: dict[int, str] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)

    def plan(self, question: str) -> list[PlannedTask]:
        agent = Agent(KeylessModel(), output_type=Plan, instructions=prompts.LEADER)
        prompt = prompts.plan_prompt(question, language(question))
        return asyncio.run(agent.run(prompt)).output.tasks

    def research(self, question: str, number: int, task: PlannedTask) -> str:
        agent = Agent(KeylessModel(), instructions=prompts.RESEARCHER, retries=3)

        @agent.tool_plain
        def search(query: str) -> ToolReturn:
            return self.searched(query)

        @agent.tool_plain
        def note(action: str, title: str, content: str, note_type: str, tags: list[str]) -> str:
            arguments = {"title": title, "content": content, "note_type": note_type, "tags": tags}
            self.note_calls.append({"action": action, **arguments})
            self.notes.append(
                prompts.NoteText(len(self.notes) + 1, number, title, "researcher-1", content)
            )
            return "written"

        prompt = prompts.task_prompt(
            question, language(question), number, task.title, task.intent, task.query
        )
        return asyncio.run(agent.run(prompt)).output

    def searched(self, query: str) -> ToolReturn:
        """Return what a search finds, as the tool does."""
        self.queries.append(query)
        if self.failing:
            self.failing -= 1
            raise ModelRetry("The provider is busy.")
        result = self.find(query)
        data = {**asdict(result), "passages": [self._numbered(p) for p in result.passages]}
        return ToolReturn(return_value="passages", metadata=json.loads(json.dumps(data)))

    def _numbered(self, passage: Passage) -> dict[str, Any]:
        number = self._numbers.setdefault(passage.uri, len(self._numbers) + 1)
        return {**asdict(passage), "source": number}

    def write(self, question: str, brief: prompts.SectionBrief, written: list[str]) -> str:
        agent = Agent(KeylessModel(), instructions=prompts.WRITER)
        prompt = prompts.section_prompt(
            question, language(question), brief, self.notes, [], written
        )
        return asyncio.run(agent.run(prompt)).output

    def report(self, question: str) -> str:
        """Return the body of the report, its markers as they are."""
        tasks = self.plan(question)
        for number, task in enumerate(tasks, 1):
            self.research(question, number, task)
        count = len(tasks) + 1
        lead = prompts.SectionBrief(1, count, "lead", "lead", None, "")
        written = [self.write(question, lead, [])]
        body = [written[0]]
        for number, task in enumerate(tasks, 1):
            brief = prompts.SectionBrief(number + 1, count, "task", task.title, number, task.intent)
            written.append(self.write(question, brief, written))
            body.append(f"## {task.title}\n\n{written[-1]}")
        return "\n\n".join(body)
