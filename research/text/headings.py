"""The words of a heading as search compares them."""

from __future__ import annotations

import re

from research.text.tokens import STOP, tokens

_QUESTION = re.compile(
    r"(?:what|which|how|why|when|where|who|can|do|does|is|are|should|will)\b[\s'’]{0,2}", re.I
)
_GIVEN = re.compile(r"\(([A-Z]{2,8})\)")
_WORDS = re.compile(r"[A-Za-z]+")
_PRINTED_PAGE = re.compile(r"Page \d{1,5}\Z")
_GENERIC_WORDS = "protection framework support system module reference overview guide faq"
_GENERIC = frozenset(_GENERIC_WORDS.split())


def acronyms(heading: str) -> frozenset[str]:
    """Return what the initials of a heading's words spell, in small letters.

    Of "Cross Site Request Forgery protection": `csrf` and `csrfp`; of fewer than three words
    only what it gives itself, in brackets.
    """
    found = {match[1].lower() for match in _GIVEN.finditer(heading)}
    words = [word.lower() for word in _WORDS.findall(_GIVEN.sub("", heading))]
    words = [word for word in words if word not in STOP]
    for names in (words, [word for word in words if word not in _GENERIC]):
        if 3 <= len(names) <= 6:
            found.add("".join(name[0] for name in names))
    return frozenset(found)


def heading_tokens(heading: str) -> list[str]:
    """Return the tokens of a heading; the question word of a FAQ's says nothing."""
    return tokens(_QUESTION.sub("", heading, count=1))


def section_of(headings: tuple[str, ...]) -> tuple[str, ...]:
    """Return the headings without the printed page, which says nothing of what stands on it."""
    return headings[:-1] if headings and _PRINTED_PAGE.match(headings[-1]) else headings
