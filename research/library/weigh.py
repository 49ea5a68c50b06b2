"""What is indexed of a passage: its words, and those of the headings above it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from research.text.tokens import STOP, tokens

_QUESTION = re.compile(
    r"(?:what|which|how|why|when|where|who|can|do|does|is|are|should|will)\b[\s'’]{0,2}", re.I
)
_CAPITALS = re.compile(r"[A-Z][A-Z0-9]{1,7}")
_WORDS = re.compile(r"[A-Za-z]+")


def acronym(title: str) -> str:
    """Return the initials of a title's words in capitals, "" for fewer than three words."""
    words = [word for word in _WORDS.findall(title) if word.lower() not in STOP]
    return "".join(word[0] for word in words).upper() if 3 <= len(words) <= 6 else ""


def title_acronyms(titles: Iterable[str]) -> frozenset[str]:
    """Return the words in capitals that the titles of a collection use."""
    return frozenset(word for title in titles for word in _CAPITALS.findall(title))


def index_tokens(text: str, headings: tuple[str, ...], acronyms: frozenset[str]) -> list[str]:
    """Return the tokens of a passage: its own, its own heading's twice, its other headings' once.

    A heading whose initials the collection uses as a word gives that word too.
    """
    found = tokens(text)
    for index, heading in enumerate(headings):
        words = tokens(_QUESTION.sub("", heading, count=1))
        short = acronym(heading)
        if short and (short in acronyms or short in text):
            words = [*words, short.lower()]
        found += words * (2 if index == len(headings) - 1 else 1)
    return found
