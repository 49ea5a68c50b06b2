"""The writer: one section from the notes, each statement a quote with its marker."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic_ai.messages import ModelMessage, ModelResponsePart, TextPart

from research.llm.keyless.facets import ORDER
from research.llm.keyless.prompts import Prompt, Tagged, read_prompt
from research.llm.keyless.questions import kind_of
from research.text.language import Language
from research.text.markers import Marker, find_markers
from research.text.tokens import content

_LEAD_CHARS = {"en": 1500, "zh": 700}
_SECTION_LINES = 7
_SAME = 0.8
_NOTHING = {
    "en": "No evidence was found for this in the sources.",
    "zh": "在资料中没有找到这一点的依据。",
}
_NO_ANSWER = {
    "en": "The sources that were found do not answer this question.",
    "zh": "找到的资料没有回答这个问题。",
}
_MISSING = {"en": "No evidence found for: {}.", "zh": "没有找到依据的部分：{}。"}
_ALL_SAID = {
    "en": "What was found on this stands above.",
    "zh": "这一点的要点已在上文列出。",
}
_BULLET = re.compile(r"\s{0,8}(?:[-*•]|\d{1,3}[.)])\s{1,4}")
_MARKDOWN = re.compile(r"(?<![\w`])(?:__\w+__|\*{1,2}\w+|<[^<>`\s]{1,40}>|\[\d{1,3}\])(?![\w`])")


@dataclass(frozen=True, slots=True)
class Line:
    """A statement of a note, with its markers."""

    text: str
    markers: tuple[Marker, ...]
    task: str
    outline: bool

    @property
    def words(self) -> frozenset[str]:
        """Return the words it says."""
        return content(self.text)

    def __str__(self) -> str:
        return " ".join([_safe(self.text), *map(str, self.markers)])


def _safe(text: str) -> str:
    """Return text that Markdown shows as it is: names that it would format stand as code."""
    return _MARKDOWN.sub(lambda match: f"`{match[0]}`", text)


def _lines(note: Tagged) -> list[Line]:
    found = []
    outline = note.text.count("\n") >= 2 and all(
        len(line) < 120 and ":" in line for line in note.text.strip().split("\n")
    )
    for raw in note.text.split("\n"):
        marks = list(find_markers(raw))
        text = raw[: marks[0].at] if marks else raw
        bullet = _BULLET.match(text)
        text = text[bullet.end() if bullet else 0 :].strip()
        if text and marks:
            found.append(
                Line(
                    text,
                    tuple(mark.marker for mark in marks),
                    note.attributes.get("task", ""),
                    outline,
                )
            )
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
    """Return the lines that say what neither an earlier one nor a written section says."""
    spans = _written_spans(prompt)
    texts: list[frozenset[str]] = []
    kept = []
    for line in lines:
        if not _repeats(line, spans, texts):
            kept.append(line)
            spans += line.markers
            texts.append(line.words)
    return kept


def _outlined(notes: Sequence[Tagged], language: Language) -> list[str]:
    for note in notes:
        if _is_outline(note):
            return [f"- {line}" for line in _lines(note)]
    return []


def _task_number(task: str) -> tuple[bool, int]:
    return (not task.isdecimal(), int(task) if task.isdecimal() else 0)


def _shares(count: int) -> list[int]:
    """Return how many statements of each task the lead takes, the first task most."""
    if count <= 1:
        return [5]
    if count == 2:
        return [4, 3]
    return [3, 2, 2, 1, 1, 1, 1, 1][:count]


def _lead(prompt: Prompt) -> str:
    language = prompt.language
    notes = prompt.all("note")
    findings = [note for note in notes if not _is_outline(note)]
    # Researchers work side by side: their notes come in any order, the plan's order is the tasks'.
    tasks = sorted({note.attributes.get("task", "") for note in findings}, key=_task_number)
    by_task = {
        task: [
            line
            for note in findings
            if note.attributes.get("task", "") == task
            for line in _lines(note)
        ]
        for task in tasks
    }
    if not any(by_task.values()):
        return _NO_ANSWER[language]
    shares = _shares(len(tasks))
    every = _unique([line for task in tasks for line in by_task[task]], prompt)
    few = sum(len(line.text) for line in every) < _LEAD_CHARS[language]
    if few:  # what is little is shared between the lead and the sections, all at first sight
        shares = [(len(by_task[task]) + 1) // 2 for task in tasks]
    order: list[Line] = []
    for task, share in zip(tasks, shares, strict=False):
        order += by_task[task][:share]
    if not few:
        order += [line for task in tasks for line in by_task[task][:4] if line not in order]
    outline = (
        _outlined(notes, language)
        if ORDER[kind_of(prompt.question, language)][0] in ("list", "number")
        else []
    )
    room = _LEAD_CHARS[language] - sum(map(len, outline))
    chosen: list[Line] = []
    for line in _unique(order, prompt):
        if chosen and room < len(line.text):
            continue
        chosen.append(line)
        room -= len(line.text) + 8
        if room < 60:
            break
    first, rest = chosen[0], chosen[1:]
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
    lines = [line for note in own for line in _lines(note)]
    if not lines:
        return _NOTHING[language]
    fresh = _unique(lines, prompt)[:_SECTION_LINES]
    if not fresh:
        return _ALL_SAID[language]
    return "\n".join(f"- {line}" for line in fresh)


def write(messages: Sequence[ModelMessage]) -> list[ModelResponsePart]:
    """Return the text of the section that a prompt asks for."""
    prompt = read_prompt(messages)
    kind = next((item.attributes.get("kind", "") for item in prompt.all("section")), "lead")
    return [TextPart(_section(prompt) if kind == "task" else _lead(prompt))]
