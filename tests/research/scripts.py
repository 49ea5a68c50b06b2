"""Scripts for the models of a run, and what was paid for of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

TASKS = [
    {"title": "How they warn", "intent": "Light and sound.", "query": "lighthouse warns ships"},
    {"title": "Who keeps them", "intent": "People.", "query": "keeper of a lighthouse"},
]


def rules(delay: float = 0.0, tasks: list[dict[str, str]] | None = None) -> list[dict[str, Any]]:
    """Return the rules of a whole run, with `delay` seconds before each piece of what is said."""
    return [
        {
            "name": "plan",
            "when": {"output": True},
            "reply": [
                {"thinking": "Which parts has the question?", "delay": delay},
                {"wait": delay},
                {"output": {"tasks": tasks or TASKS}},
            ],
        },
        {
            "name": "search",
            "when": {"tools": ["search"], "turn": 1},
            "reply": [
                {"text": "I look it up.", "delay": delay},
                {"tool": "search", "args": {"query": "{tag:query}"}},
            ],
        },
        {
            "name": "note",
            "when": {"tools": ["note"], "turn": 2},
            "reply": [
                {
                    "tool": "note",
                    "args": {"action": "create", "title": "{tag:task}", "content": "{passage:0}"},
                },
                {"wait": delay},
            ],
        },
        {
            "name": "summary",
            "when": {"tools": ["note"]},
            "reply": [{"text": "In short: {passage:0}", "delay": delay}],
        },
        {"name": "write", "reply": [{"text": "{tag:note}", "delay": delay}]},
    ]


class Script:
    """A script file, and the file of its calls."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.path = folder / "script.json"
        self.calls_path = folder / "calls.jsonl"
        self.model = f"scripted:{self.path}"
        self.play(rules())

    def play(self, rules: list[dict[str, Any]]) -> None:
        """Write the rules down. A process reads them once."""
        self.path.write_text(json.dumps({"calls": "calls.jsonl", "rules": rules}))

    def calls(self, outcome: str = "finished") -> Counter[tuple[str, str, int]]:
        """Return how often each call (its rule, its prompt, its turn) ended so."""
        if not self.calls_path.exists():
            return Counter()
        lines = [json.loads(line) for line in self.calls_path.read_text().splitlines()]
        return Counter(
            (line["rule"], line["prompt"], line["turn"])
            for line in lines
            if line["outcome"] == outcome
        )

    def rules_called(self, outcome: str = "finished") -> Counter[str]:
        """Return how often each rule ended so."""
        counted: Counter[str] = Counter()
        for (rule, _, _), number in self.calls(outcome).items():
            counted[rule] += number
        return counted
