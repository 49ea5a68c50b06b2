"""The lines of a PDF's page: what each says, where it stands and how large its letters are."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pypdfium2.raw as pdfium

from research.text.clean import is_cjk

_APART = 1.1
_EDGE = 2
"""How many lines at the top and at the bottom of a page may be a running header or a footer."""
_RUNNING_PAGES = 3
_RUNNING_SHARE = 0.5
_RUNNING_ENOUGH = 10
_NUMBERS = re.compile(r"\d+|\b[ivxlc]{1,7}\Z")
_LEADERS = (".....", ". . . .", "……", "·····")
_ONLY_NUMBER = re.compile(r"[-–—\s]{0,3}(?:\d{1,5}|[ivxlc]{1,7})[-–—\s]{0,3}\Z")


@dataclass(frozen=True, slots=True)
class Line:
    """A line; `word` is how wide its first word is, all in points."""

    text: str
    size: float
    left: float
    right: float
    bottom: float
    word: float


def _box(page: Any, at: int) -> Any:
    rect = pdfium.FS_RECTF()
    return rect if pdfium.FPDFText_GetLooseCharBox(page, at, rect) else None


def _size(page: Any, at: int) -> float:
    """Return the size of a letter on paper; what its font says is scaled by where it stands."""
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFText_GetMatrix(page, at, matrix):
        return 0.0
    return float(pdfium.FPDFText_GetFontSize(page, at) * math.hypot(matrix.c, matrix.d))


def lines_of(page: Any) -> Iterator[Line]:
    """Yield the lines of a text page, as pypdfium2 has it, in the order in which they are drawn."""
    count = page.count_chars()
    text = page.get_text_range() if count else ""
    if len(text) != count:  # those beyond the first plane are counted as two
        text = "".join(chr(pdfium.FPDFText_GetUnicode(page, at)) for at in range(count))
    start = 0
    for raw in text.split("\n"):
        if line := _line(page, raw, start):
            yield line
        start += len(raw) + 1


def _line(page: Any, raw: str, start: int) -> Line | None:
    said = raw.strip()
    if not said or said.rstrip("0123456789ivxlc ").endswith(_LEADERS):  # of a table of contents
        return None
    first = start + raw.index(said[0])
    last = first + len(said) - 1
    left, right = _box(page, first), _box(page, last)
    if left is None or right is None:
        return Line(said, 0.0, 0.0, 0.0, 0.0, 0.0)
    # Of three letters the one in the middle: a large initial makes no heading.
    size = sorted(_size(page, at) for at in (first, (first + last) // 2, last))[1]
    end = 0 if is_cjk(said[0]) else max(said.find(" "), 0) or len(said)
    word = _box(page, first + max(end - 1, 0)) or left
    if not said.isascii():
        said = said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Line(
        said, round(size * 2) / 2, left.left, right.right, left.bottom, word.right - left.left
    )


def alike(one: float, other: float) -> bool:
    """Tell whether letters are of one size; those of two scripts differ a little."""
    return abs(one - other) < 0.06 * max(one, other)


def pitch_of(lines: Sequence[Line]) -> float:
    """Return by how much a line stands below the one before, most often."""
    steps = Counter(
        round(2 * (a.bottom - b.bottom)) / 2
        for a, b in pairwise(lines)
        if alike(a.size, b.size) and 0 < a.bottom - b.bottom < 4 * max(a.size, 1)
    )
    return min((step for step, n in steps.items() if n * 2 >= max(steps.values())), default=0.0)


def _key(line: Line) -> str:
    return f"{line.size}:{_NUMBERS.sub('#', line.text)}"


def _edges(lines: Sequence[Line]) -> tuple[int, int]:
    """Return how many lines at the top and at the bottom of a page stand apart from its text."""
    if len(lines) <= _EDGE:
        return len(lines), 0
    apart = _APART * pitch_of(lines)
    gaps = [above.bottom - below.bottom > apart for above, below in pairwise(lines)]
    top = max((at + 1 for at in range(_EDGE) if gaps[at : at + 1] == [True]), default=0)
    end = max((at + 1 for at in range(_EDGE) if gaps[-1 - at :][:1] == [True]), default=0)
    return top, min(end, len(lines) - top)


def without_running(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Return the pages without the headers and footers that run through them."""
    edges = [_edges(page) for page in pages]
    seen: Counter[str] = Counter()
    for page, (top, end) in zip(pages, edges, strict=True):
        seen.update({_key(line) for line in (*page[:top], *page[len(page) - end :])})
    needed = min(max(_RUNNING_PAGES, _RUNNING_SHARE * len(pages)), _RUNNING_ENOUGH)
    running = {key for key, count in seen.items() if count >= needed}

    def runs(line: Line) -> bool:
        return _key(line) in running or (len(pages) > 1 and bool(_ONLY_NUMBER.match(line.text)))

    return [
        [line for at, line in enumerate(page) if top <= at < len(page) - end or not runs(line)]
        for page, (top, end) in zip(pages, edges, strict=True)
    ]
