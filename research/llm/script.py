"""The script that a scripted model plays: rules that match a request, and what is replied.

A script is a JSON file::

    {"calls": "calls.jsonl",
     "rules": [
       {"name": "plan", "when": {"output": true},
        "reply": [{"wait": 0.2}, {"output": {"tasks": [{"title": "Its age", "query": "old"}]}}]},
       {"name": "search", "when": {"tools": ["search"], "turn": 1},
        "reply": [{"text": "I search.", "delay": 0.01},
                  {"tool": "search", "args": {"query": "{tag:query}"}}]},
       {"name": "busy", "when": {"tools": ["note"], "turn": 2, "call": 1},
        "reply": [{"fault": "http", "status": 429, "retry_after": 3}]},
       {"name": "note", "when": {"tools": ["note"], "turn": 2},
        "reply": [{"tool": "note", "args": {"action": "create", "title": "Found",
                                            "content": "- {passage:0}"}}]},
       {"name": "summary", "when": {"tools": ["note"]}, "reply": [{"text": "{passage:0}"}]},
       {"name": "write", "reply": [{"text": "{tag:note}", "delay": 0.005}]}
     ]}

The first rule whose `when` holds is played; all that it names must hold:

* `prompt`: the last prompt of a person contains this text, or `pattern`: this regular expression;
* `instructions`: what the role is told contains this text;
* `tools`: all of these tools are offered; `output`: whether an output tool is (the plan's);
* `turn`: this is the n-th reply within its conversation, counted from 1; it survives a restart;
* `call`: this is the n-th time, from 1, that the rule would otherwise have been played by this
  process: put it on a fault, and the next request falls through to the rule below.

The steps of a reply, in order:

* `{"text": …}` streams a text, or a list of pieces as they are, `times` over, with `delay` seconds
  before each piece; `{"thinking": …}` does so with thoughts;
* `{"tool": …, "args": {…}}` calls a tool; `"args"` may be a string, to be broken JSON;
* `{"output": {…}}` calls the output tool with these arguments, or writes them as JSON;
* `{"wait": seconds}`; `{"finish": "length"}` sets why the reply ended;
* `{"fault": "http", "status": 503, "retry_after": 3}`, also in the middle of a reply;
  `"hang"` says nothing more, for ever; `"cut"` breaks the connection; `"empty"` ends the reply.

In texts and arguments, `{tag:NAME}` is the content of the first `<NAME>` of the prompt
(`{tag:NAME:2}` of the third), `{passage:0}` the first sentence of a passage that the last search
returned, with its marker, and `{turn}` the turn. What is not there becomes nothing.

With `calls`, each call appends two lines of JSON to that file (beside the script if relative): one
with `"outcome": "started"`, and one with `finished`, `failed` or `cancelled`. After a crash, what
was paid for and what was not stands there.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from research.text.markers import Marker
from research.text.sentences import sentences

from .request import Request

PLACEHOLDER = re.compile(r"\{(tag:([a-z]{1,20})(?::(\d{1,3}))?|passage:(\d{1,3})|turn)\}")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Text(_Model):
    """Text or thoughts, piece by piece."""

    text: str | list[str] = ""
    thinking: str | list[str] = ""
    times: int = 1
    delay: float = 0.0


class ToolCall(_Model):
    """A call of a tool."""

    tool: str
    args: dict[str, Any] | str = {}


class Output(_Model):
    """A call of the output tool."""

    output: dict[str, Any]


class Wait(_Model):
    """Silence."""

    wait: float


class Finish(_Model):
    """Why the reply ended."""

    finish: Literal["stop", "length", "content_filter", "tool_call", "error"]


class Fault(_Model):
    """Something that goes wrong."""

    fault: Literal["http", "hang", "cut", "empty"]
    status: int = 500
    retry_after: float | None = None
    message: str = "scripted"


Step = Text | ToolCall | Output | Wait | Finish | Fault


class When(_Model):
    """What must hold for a rule to be played."""

    prompt: str = ""
    pattern: str = ""
    instructions: str = ""
    tools: list[str] = []
    output: bool | None = None
    turn: int | None = None
    call: int | None = None

    def holds(self, request: Request) -> bool:
        """Return whether it holds, but for the number of the call."""
        return (
            self.prompt in request.prompt
            and re.search(self.pattern, request.prompt) is not None
            and self.instructions in request.instructions
            and request.tools.issuperset(self.tools)
            and self.output in (None, request.output_tool is not None)
            and self.turn in (None, request.turn)
        )


class Rule(_Model):
    """What is replied when."""

    name: str
    when: When = When()
    reply: list[Step]


class Script(_Model):
    """The rules, tried from the first to the last."""

    rules: list[Rule] = Field(min_length=1)
    calls: str = ""

    def rule_for(self, request: Request, count: Callable[[str], int]) -> Rule | None:
        """Return the rule to play. `count` counts a rule's matches, and returns the new number."""
        for rule in self.rules:
            if rule.when.holds(request) and (
                rule.when.call is None or count(rule.name) == rule.when.call
            ):
                return rule
        return None


def load(path: Path) -> Script:
    """Read a script; pydantic tells what is wrong with it."""
    return Script.model_validate_json(path.read_bytes())


def filled(value: Any, request: Request) -> Any:
    """Return the value with the placeholders in its texts filled in."""
    if isinstance(value, str):
        return PLACEHOLDER.sub(lambda match: _meaning(match, request), value)
    if isinstance(value, list):
        return [filled(item, request) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, request) for key, item in value.items()}
    return value


def _meaning(match: re.Match[str], request: Request) -> str:
    _, tag, place, passage = match.groups()
    if tag:
        found = re.findall(rf"<{tag}(?: [^>]*)?>([^<]*)</{tag}>", request.prompt)
        return html.unescape(found[int(place or 0)]) if len(found) > int(place or 0) else ""
    return _cited(request.passages, int(passage)) if passage else str(request.turn)


def _cited(passages: list[dict[str, Any]], number: int) -> str:
    """Return the first sentence of a passage and the marker of where it stands."""
    if number >= len(passages):
        return ""
    text, start = passages[number]["text"], passages[number]["start"]
    first = sentences(text)[0]
    marker = Marker(passages[number]["source"], start + first.start, start + first.end)
    return f"{text[first.start : first.end]} {marker}"
