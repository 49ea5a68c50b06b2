"""The plan: the questions in the question, and the facets that its kind calls for."""

from __future__ import annotations

from dataclasses import dataclass

from research.llm.keyless.facets import ORDER, WORDS, Facet
from research.llm.keyless.questions import Part, parts
from research.text.language import Language

_MAX_TASKS = 4
_MAX_TOPIC_WORDS = 5


@dataclass(frozen=True, slots=True)
class Step:
    """A planned task, in the words of the plan's schema."""

    title: str
    intent: str
    query: str


def _facet(facet: Facet, part: Part, tag: Language) -> Step:
    words = WORDS[tag][facet]
    topic = part.topic
    short = 0 < len(topic) <= 16 if tag == "zh" else 0 < len(topic.split()) <= _MAX_TOPIC_WORDS
    clean = short and part.kind in (
        "def",
        "howto",
        "limits",
        "list",
        "number",
        "how",
        "when",
        "topic",
        "compare",
    )
    if facet == "def" and tag == "en" and clean:
        title = f"What {topic} {'are' if _plural(topic) else 'is'}"
    elif facet == "how" and tag == "en" and clean:
        title = f"How {topic} {'work' if _plural(topic) else 'works'}"
    else:
        title = words.title.format(topic) if clean else words.bare
    query = f"{topic} {words.more}".strip() or part.text
    return Step(title, words.intent, query)


def _plural(topic: str) -> bool:
    last = topic.rsplit(" ", 1)[-1].lower()
    return " and " in topic or (last.endswith("s") and not last.endswith(("ss", "us", "is", "as")))


def _main(part: Part, first: Part, tag: Language) -> Step:
    """Return the task that asks a part of the question as it stands."""
    text = part.text.strip(" \t\n?？.。")
    facet = ORDER[part.kind][0]
    title = text[:1].upper() + text[1:]
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
            title = f"{name}是什么" if tag == "zh" else f"What {name} is"
            steps.append(Step(title, definition.intent, name))
    elif first.topic:
        for facet in ORDER[first.kind][1:]:
            if len(steps) >= (3 if len(found) == 1 else len(found) + 1):
                break
            if facet not in asked:
                steps.append(_facet(facet, first, tag))
    return steps[: max(_MAX_TASKS, len(found))]
