"""Score reports: the share of known facts that stand on their first screen."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from research.text.language import Language, language

FIRST_SCREEN: Mapping[Language, int] = {"en": 1600, "zh": 750}
"""How many characters of a report a person sees before scrolling."""

TOP = 3.0


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the facts ("nuggets", regular expressions) that a good report shows."""

    corpus: str
    text: str
    nuggets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """0 to 3 for the first screen and for the whole report, and the facts that the first misses."""

    first: float
    whole: float
    missing: tuple[str, ...]


def _matches(nugget: str, text: str) -> bool:
    return re.search(nugget, text, re.I | re.S) is not None


def score(body: str, nuggets: Sequence[str], tag: Language) -> Score:
    """Return how much of what should be in a report's body is, and is seen at once."""
    screen = body[: FIRST_SCREEN[tag]]
    missing = tuple(nugget for nugget in nuggets if not _matches(nugget, screen))
    total = max(len(nuggets), 1)
    whole = sum(_matches(nugget, body) for nugget in nuggets)
    return Score(TOP * (len(nuggets) - len(missing)) / total, TOP * whole / total, missing)


def score_question(question: Question, body: str) -> Score:
    """Return the score of a report to a question of a list."""
    return score(body, question.nuggets, language(question.text))


def read_questions(path: str | Path, corpus: str | None = None) -> list[Question]:
    """Return the questions of a JSON file, of one corpus if it is named."""
    rows = json.loads(Path(path).read_text("utf-8"))
    return [
        Question(row.get("corpus", ""), row["question"], tuple(row["nuggets"]))
        for row in rows
        if corpus is None or row.get("corpus") == corpus
    ]
