"""Blocks joined to passages: same headings, same kind, up to 900 characters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from research.library.page import Block, Page
from research.text.sentences import sentences

MAX_CHARS = 900


@dataclass(frozen=True, slots=True)
class Passage:
    """`page.text[start:end]` under its headings."""

    kind: Literal["prose", "row"]
    headings: tuple[str, ...]
    start: int
    end: int


def _pieces(page: Page, block: Block) -> Iterator[tuple[int, int]]:
    """Yield a block whole, or a long one in parts that end with a sentence."""
    if block.end - block.start <= 2 * MAX_CHARS:
        yield block.start, block.end
        return
    start = end = block.start
    for sentence in sentences(page.text[block.start : block.end]):
        left, right = block.start + sentence.start, block.start + sentence.end
        while right - left > 2 * MAX_CHARS:  # a "sentence" without an end: cut it
            if end > start:
                yield start, end
            yield left, left + MAX_CHARS
            left = start = end = left + MAX_CHARS
        if end > start and right - start > MAX_CHARS:
            yield start, end
            start = left
        end = right
    if end > start:
        yield start, end


def passages(page: Page) -> Iterator[Passage]:
    """Yield the passages of a page in order; none overlap and none crosses a heading."""
    waiting: Passage | None = None
    for block in page.blocks:
        kind: Literal["prose", "row"] = "row" if block.kind == "row" else "prose"
        for start, end in _pieces(page, block):
            if (
                waiting is not None
                and waiting.kind == kind
                and waiting.headings == block.headings
                and end - waiting.start <= MAX_CHARS
            ):
                waiting = Passage(kind, waiting.headings, waiting.start, end)
                continue
            if waiting is not None:
                yield waiting
            waiting = Passage(kind, block.headings, start, end)
    if waiting is not None:
        yield waiting
