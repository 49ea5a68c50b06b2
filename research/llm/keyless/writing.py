"""The writer: one section from the notes, each statement a quote with its marker."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic_ai.messages import ModelMessage, ModelResponsePart, TextPart

from research.llm.keyless.facets import ORDER
from research.llm.keyless.prompts import Prompt, Tagged, read_prompt
from research.llm.keyless.questions import kind_of, parts
from research.text.language import Language
from research.text.markers import NOTHING_TO_ADD, Marker, find_markers
from research.text.tokens import content

_LEAD_CHARS = {"en": 1500, "zh": 700}
_SECTION_LINES = 7
_SAME = 0.8
_AGAIN = 2
_ASKED = 4
_NOTHING = {
    "en": "No evidence was found for this in the sources.",
    "zh": "在资料中没有找到这一点的依据。",
}
_NO_ANSWER = {
    "en": "The sources that were found do not answer this question.",
    "zh": "找到的资料没有回答这个问题。",
}
_MISSING = {"en": "No evidence found for: {}.", "zh": "没有找到依据的部分：{}。"}
_BULLET = re.compile(r"\s{0,8}(?:[-*•]|\d{1,3}[.)])\s{1,4}")
_MARKDOWN = re.compile(r"(?<![\w`])(?:__\w+__|\*{1,2}\w+|<[^<>`\s]{1,40}>|\[\d{1,3}\])(?![\w`])")


@dataclass(frozen=True, slots=True)
class Line:
    """A statement of a note, with its markers and the items below it."""

    text: str
    markers: tuple[Marker, ...]
    task: str = ""
    items: tuple[Line, ...] = ()

    @property
    def words(self) -> frozenset[str]:
        """Return the words it says."""
        return content(self.text)

    @property
    def size(self) -> int:
        """Return how much room it takes, as a reader sees it."""
        return len(self.text) + 8 + sum(item.size for item in self.items)

    def __str__(self) -> str:
        said = " ".join([_safe(self.text), *map(str, self.markers)])
        return said + "".join(f"\n  - {item}" for item in self.items)

    def within(self, room: int) -> Line:
        """Return it with the items that there is room for."""
        kept: list[Line] = []
        room -= len(self.text) + 8
        for item in self.items:
            room -= item.size
            if room < 0:
                break
            kept.append(item)
        return replace(self, items=tuple(kept))


def _safe(text: str) -> str:
    """Return text that Markdown shows as it is: names that it would format stand as code."""
    return _MARKDOWN.sub(lambda match: f"`{match[0]}`", text)


def _lines(note: Tagged) -> list[Line]:
    found: list[Line] = []
    task = note.attributes.get("task", "")
    for raw in note.text.split("\n"):
        marks = list(find_markers(raw))
        text = raw[: marks[0].at] if marks else raw
        bullet = _BULLET.match(text)
        text = text[bullet.end() if bullet else 0 :].strip()
        if not text or not marks:
            continue
        line = Line(text, tuple(mark.marker for mark in marks), task)
        if found and bullet and bullet[0].startswith("  "):
            found[-1] = replace(found[-1], items=(*found[-1].items, line))
        else:
            found.append(line)
    return found


def _is_outline(note: Tagged) -> bool:
    return note.attributes.get("title", "").startswith(("In outline:", "概览:"))


def _written_spans(prompt: Prompt) -> list[Marker]:
    return [mark.marker for item in prompt.all("written") for mark in find_markers(item.text)]


def _repeats(line: Line, spans: Sequence[Marker], texts: Sequence[frozenset[str]]) -> bool:
    for marker in line.markers:
        for other in spans:
            if marker.source != other.source:
                continue
            if marker.start is None or other.start is None:
                continue
            assert marker.end is not None and other.end is not None
            if marker.start < other.end and other.start < marker.end:
                return True
    words = line.words
    return any(
        len(words & other) >= _SAME * min(len(words), len(other))
        for other in texts
        if other and words
    )


def _unique(lines: Sequence[Line], prompt: Prompt) -> list[Line]:
    """Return the lines that say what neither an earlier one nor a written section says.

    What announces a list is said again if two of its items are new.
    """
    spans = _written_spans(prompt)
    texts: list[frozenset[str]] = []
    kept = []
    for line in lines:
        items = tuple(item for item in line.items if not _repeats(item, spans, texts))
        if len(items) < _AGAIN and _repeats(line, spans, texts):
            continue
        kept.append(replace(line, items=items))
        for each in (line, *items):
            spans += each.markers
            texts.append(each.words)
    return kept


def _steered(lines: list[Line], prompt: Prompt) -> list[Line]:
    """Return the lines with those first that speak of what a person asked for."""
    asked = content(" ".join(item.text for item in prompt.all("steer")))
    return sorted(lines, key=lambda line: -len(line.words & asked)) if asked else lines


def _outlined(notes: Sequence[Tagged], language: Language) -> list[str]:
    for note in notes:
        if _is_outline(note):
            return [f"- {line}" for line in _lines(note)]
    return []


def _task_number(task: str) -> tuple[bool, int]:
    return (not task.isdecimal(), int(task) if task.isdecimal() else 0)


def _shares(tasks: Sequence[str], asked: int) -> dict[str, int]:
    """Return the tasks' shares of the lead: those that the question asks, then the others."""
    return {task: _ASKED if place < asked else 1 for place, task in enumerate(tasks)}


def _chosen(fresh: Sequence[Line], shares: Mapping[str, int], room: int) -> list[Line]:
    """Return what fits in the lead, in order: of each task by its share, then what room is left."""
    taken: dict[int, Line] = {}
    budget = {task: room * share // sum(shares.values()) for task, share in shares.items()}
    for shared in (True, False):
        for place, line in enumerate(fresh):
            limit = min(room, budget[line.task]) if shared else room
            if place in taken or (taken and limit < len(line.text)):
                continue
            cut = line.within(limit)
            if taken and len(cut.items) < min(len(line.items), _AGAIN):
                continue  # what it announces has no room
            taken[place] = cut
            room -= cut.size
            budget[line.task] -= cut.size
    return [taken[place] for place in sorted(taken)]


def _lead(prompt: Prompt) -> str:
    language = prompt.language
    notes = prompt.all("note")
    findings = [note for note in notes if not _is_outline(note)]
    # Researchers work side by side: their notes come in any order, the plan's order is the tasks'.
    tasks = sorted({note.attributes.get("task", "") for note in findings}, key=_task_number)
    by_task = {
        task: _steered(
            [
                line
                for note in findings
                if note.attributes.get("task", "") == task
                for line in _lines(note)
            ],
            prompt,
        )
        for task in tasks
    }
    if not any(by_task.values()):
        return _NO_ANSWER[language]
    shares = _shares(tasks, len(parts(prompt.question)))
    every = _unique([line for task in tasks for line in by_task[task]], prompt)
    few = sum(line.size for line in every) < _LEAD_CHARS[language]
    if few:  # what is little is shared between the lead and the sections, all at first sight
        shares = {task: (len(by_task[task]) + 1) // 2 for task in tasks}
    outline = (
        _outlined(notes, language)
        if ORDER[kind_of(prompt.question, language)][0] in ("list", "number")
        else []
    )
    room = _LEAD_CHARS[language] - sum(map(len, outline))
    mine = [line for task in tasks for line in by_task[task][: shares[task] if few else None]]
    chosen = _chosen(_unique(mine, prompt), shares, room)
    first, rest = chosen[0], chosen[1:]
    if first.items:  # a paragraph's list would run on into the list of the rest
        rest = chosen
        blocks = []
    else:
        blocks = [str(first)]
    if outline:
        blocks.append("\n".join(outline))
    if rest:
        blocks.append("\n".join(f"- {line}" for line in rest))
    return "\n\n".join(blocks)


def _section(prompt: Prompt) -> str:
    language = prompt.language
    task = next((item.attributes.get("task", "") for item in prompt.all("section")), "")
    notes = [note for note in prompt.all("note") if not _is_outline(note)]
    own = [note for note in notes if note.attributes.get("task", "") == task] or (
        notes if not task else []
    )
    lines = _steered([line for note in own for line in _lines(note)], prompt)
    if not lines:
        return _NOTHING[language]
    fresh = _unique(lines, prompt)[:_SECTION_LINES]
    if not fresh:
        return NOTHING_TO_ADD
    return "\n".join(f"- {line}" for line in fresh)


def write(messages: Sequence[ModelMessage]) -> list[ModelResponsePart]:
    """Return the text of the section that a prompt asks for."""
    prompt = read_prompt(messages)
    kind = next((item.attributes.get("kind", "") for item in prompt.all("section")), "lead")
    return [TextPart(_section(prompt) if kind == "task" else _lead(prompt))]
