"""Facets: the sides of a subject that a kind of question asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Facet = Literal[
    "compare",
    "limits",
    "number",
    "list",
    "why",
    "when",
    "howto",
    "how",
    "def",
    "yesno",
    "topic",
]


@dataclass(frozen=True, slots=True)
class Words:
    """What a facet is called and how it sounds in one language.

    `title` names it, with its topic; `more` are words to search with.
    """

    title: str
    intent: str
    more: str
    cue: re.Pattern[str]
    heading: re.Pattern[str]
