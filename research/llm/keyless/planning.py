"""The plan: the questions in the question, and the facets that its kind calls for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from research.llm.keyless.facets import ORDER, WORDS, Facet
from research.llm.keyless.questions import Part, parts
from research.text.language import Language

_MAX_TASKS = 4
MOST = 8  # that a plan may hold, with what people ask for besides
_OPENING = re.compile(r"[a-z]{2,12} ")
_MAX_WORDS = 4
_FACETS = 1
_FACETS_OF_TOPIC = 2


@dataclass(frozen=True, slots=True)
class Step:
    """A planned task, in the words of the plan's schema."""

    title: str
    intent: str
    query: str


def _facet(facet: Facet, part: Part, tag: Language) -> Step:
    """Return the task that asks for one side of a part's topic."""
    words, phrase = WORDS[tag][facet], part.phrase
    if tag == "zh" or facet not in ("def", "how"):
        title = words.title.format(phrase)
    elif facet == "def":
        title = f"What {phrase} {'are' if _plural(phrase) else 'is'}"
    else:
        title = f"How {phrase} {'work' if _plural(phrase) else 'works'}"
    return Step(title, words.intent, f"{part.topic} {words.more}".strip())


def _nameable(part: Part, tag: Language) -> bool:
    """Tell whether a part's topic is a plain name, that a title can be made of."""
    if part.kind not in ("def", "limits", "topic") and (tag == "zh" or part.kind != "list"):
        plain = part.phrase != part.topic or " " not in part.topic
        works = part.kind == "how" and re.search(r"\bworks?\W*$", part.text)
        if tag == "zh" or not (works or (plain and part.kind in ("howto", "when"))):
            return False
    return 0 < len(part.topic) <= 16 if tag == "zh" else 0 < len(part.topic.split()) <= _MAX_WORDS


def _plural(topic: str) -> bool:
    last = topic.rsplit(" ", 1)[-1].lower()
    return " and " in topic or (last.endswith("s") and not last.endswith(("ss", "us", "is", "as")))


def _main(part: Part, first: Part, tag: Language) -> Step:
    """Return the task that asks a part of the question as it stands."""
    text = part.text.strip(" \t\n?？.。")
    facet = ORDER[part.kind][0]
    title = text[:1].upper() + text[1:] if tag == "en" and _OPENING.match(text) else text
    title += "" if part.kind == "topic" else ("？" if tag == "zh" else "?")
    query = part.text
    if part is not first and first.topic.lower() not in part.text.lower():
        query = f"{query} {first.topic}"
    if WORDS[tag][facet].more:
        query = f"{query} {WORDS[tag][facet].more}" if part.kind in ("limits", "number") else query
    intent = WORDS[tag]["topic" if part.kind == "topic" else facet].intent
    return Step(title.strip()[:300] or part.text[:300].strip() or "?", intent, query[:2000])


def plan(question: str, tag: Language) -> list[Step]:
    """Return one to four tasks, the most important first."""
    found = parts(question)
    first = found[0]
    steps = [_main(part, first, tag) for part in found]
    asked = {ORDER[part.kind][0] for part in found}
    if first.kind == "compare" and len(first.entities) > 1:
        definition = WORDS[tag]["def"]
        for name in first.entities[:3]:
            title = f"{name}是什么" if tag == "zh" else f"What {first.with_article(name)} is"
            steps.append(Step(title, definition.intent, name))
    elif len(found) == 1 and _nameable(first, tag):
        facets = [facet for facet in ORDER[first.kind] if facet not in asked]
        count = _FACETS_OF_TOPIC if first.kind == "topic" else _FACETS
        steps += [_facet(facet, first, tag) for facet in facets[:count]]
    return steps[: max(_MAX_TASKS, len(found))]
