"""A document's text as a page shows it: a part at a time, with its headings and one mark."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from research.library.page import PAGE_LEVEL, TERM_LEVEL

PART = 60_000
_SLACK = 20_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A heading with its level, the number of a printed page, or running text."""

    kind: Literal["heading", "page", "text", "mark"]
    text: str
    level: int = 0
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table of contents."""

    text: str
    level: int
    part: int
    anchor: str


Outline = Sequence[Sequence[int]]


def parts_of(text: str) -> list[int]:
    """Return where each part of a text begins: at a paragraph, if one ends in time."""
    starts = [0]
    while starts[-1] + PART + _SLACK < len(text):
        at = starts[-1] + PART
        gap = text.find("\n\n", at, at + _SLACK)
        starts.append(gap + 2 if gap != -1 else at + _SLACK)
    return starts


def part_at(starts: Sequence[int], place: int) -> int:
    """Return the number, from 1, of the part that holds a place."""
    return max(1, bisect_right(starts, place))


def contents(text: str, outline: Outline, starts: Sequence[int]) -> list[Entry]:
    """Return the table of contents: titles of sections, and of a printed document its pages."""
    rows = [row for row in outline if row[0] < TERM_LEVEL]
    if len(rows) < 2:
        rows = [row for row in outline if row[0] in (PAGE_LEVEL, *range(TERM_LEVEL))]
    top = min((row[0] for row in rows), default=1)
    return [
        Entry(text[a:b], min(level - top, 3), part_at(starts, a), f"h{a}") for level, a, b in rows
    ]


def pieces(
    text: str, outline: Outline, start: int, end: int, mark: tuple[int, int] | None
) -> Iterator[Piece]:
    """Yield the pieces of a part of a text; `mark` is what is to be found in it."""
    at = start
    for level, a, b in outline:
        if not start <= a < b <= end or a < at:
            continue
        yield from _running(text, at, a, mark)
        kind: Literal["page", "heading"] = "page" if level == PAGE_LEVEL else "heading"
        yield Piece(kind, text[a:b], 2 if level <= 2 else 3, f"h{a}")
        at = b
    yield from _running(text, at, end, mark)


def _running(text: str, start: int, end: int, mark: tuple[int, int] | None) -> Iterator[Piece]:
    cuts = [start, end]
    if mark is not None:
        cuts = sorted({start, end, *(min(max(place, start), end) for place in mark)})
    for a, b in pairwise(cuts):
        marked = mark is not None and mark[0] <= a and b <= mark[1]
        said = text[a:b] if marked else text[a:b].strip("\n")
        if said:
            yield Piece("mark" if marked else "text", said)
