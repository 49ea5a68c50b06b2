"""What is indexed of a passage: its words, and those of the headings above it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from research.text.headings import acronyms, heading_tokens, section_of
from research.text.tokens import tokens

_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9]{1,7}\b")


def known_acronyms(titles: Iterable[str]) -> frozenset[str]:
    """Return the words in capitals that the titles of a collection use, in small letters."""
    return frozenset(word.lower() for title in titles for word in _CAPITALS.findall(title))


def index_tokens(text: str, headings: tuple[str, ...], known: frozenset[str]) -> list[str]:
    """Return the tokens of a passage: its own, its own heading's twice, its other headings' once.

    A heading whose initials are a word of the collection or of the passage gives that word too.
    """
    found = tokens(text)
    headings = section_of(headings)
    for index, heading in enumerate(headings):
        words = heading_tokens(heading)
        short = acronyms(heading)
        if short:
            words += [word for word in short if word in known or word.upper() in text]
        found += words * (2 if index == len(headings) - 1 else 1)
    return found


def file_tokens(path: str) -> list[str]:
    """Return the words of a file's name: it often says what its title puts in other words."""
    return tokens(re.sub(r"[^\w]|_", " ", path.rsplit("/", 1)[-1].split(".", 1)[0]))
