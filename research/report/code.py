"""Code in Markdown, as far as it is code to every reader.

Where quotes, lists, tables and lone backticks mix, readers differ in what they take for code. What
only some would take for it counts as text: at worst it is shown with a backslash too many, while a
picture or a tag that was taken for code would be loaded where it is none.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right

_OPENS = re.compile(r"(`{3,})[^`|]*|(~{3,})[^|]*")
_FENCE_IN_LINE = re.compile(r"`{3}|~{3}")
_RUN = re.compile("`+")
_TICKS = re.compile(r"\\.|(`+)")

Spans = list[tuple[int, int]]


def code_of(text: str) -> tuple[str, Spans]:
    """Return the text, a last fence in it closed, and from where to where it is code."""
    blocks: Spans = []
    inline: Spans | None = []
    fence, began, at = "", 0, 0
    for line in text.split("\n"):
        end = at + len(line)
        if fence:
            if _closes(line, fence):
                blocks.append((began, end))
                fence = ""
        elif opened := _OPENS.fullmatch(line):
            fence, began = opened[1] or opened[2], at
        elif _FENCE_IN_LINE.search(line):  # in a list or a quote, perhaps; perhaps not
            return text, []
        elif inline is not None:
            if (found := _in_line(line)) is None:
                inline = None
            else:
                inline += ((at + a, at + b) for a, b in found)
        at = end + 1
    if fence:
        text = f"{text}\n{fence}"
        blocks.append((began, len(text)))
    return text, sorted(blocks + (inline or []))


def is_in(spans: Spans, place: int) -> bool:
    """Tell whether a place is in one of the spans, which are in order."""
    before = bisect_right(spans, (place, sys.maxsize))
    return before > 0 and place < spans[before - 1][1]


def _closes(line: str, fence: str) -> bool:
    bare = line.rstrip(" \t")
    marks = bare.lstrip(" ")
    return len(bare) - len(marks) < 4 and set(marks) == {fence[0]} and len(marks) >= len(fence)


def _in_line(line: str) -> Spans | None:
    """Return the code in a line of text; None where a backtick has no other in the same line."""
    found: Spans = []
    at = 0
    while match := _TICKS.search(line, at):
        at = match.end()
        if not (ticks := match[1]):
            continue
        ends = (run for run in _RUN.finditer(line, at) if run[0] == ticks)
        closing = next(ends, None)
        if closing is None or "|" in line[at : closing.start()]:  # the edge of a cell, perhaps
            return None
        found.append((match.start(), closing.end()))
        at = closing.end()
    return found
