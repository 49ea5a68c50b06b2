"""`[S12]` and `[S12:100-250]`: how notes, sections and the verifier name a passage.

The number is the source's in its run; the offsets are code points of the source's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

NOTHING_TO_ADD = "—"
"""A writer's word for a section: all that was noted for it is written already."""

PATTERN = re.compile(r"\[S(\d{1,9})(?::(\d{1,10})-(\d{1,10}))?\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Marker:
    """A source, and the part of its text that is meant, if one is."""

    source: int
    start: int | None = None
    end: int | None = None

    def __str__(self) -> str:
        if self.start is None or self.end is None:
            return f"[S{self.source}]"
        return f"[S{self.source}:{self.start}-{self.end}]"


@dataclass(frozen=True, slots=True)
class Marked:
    """A marker and where it stands in the text that was read."""

    marker: Marker
    at: int
    to: int


def _read(match: re.Match[str]) -> Marker:
    source = int(match[1])
    if match[2] is None or int(match[2]) >= int(match[3]):
        return Marker(source)
    return Marker(source, int(match[2]), int(match[3]))


def find_markers(text: str) -> Iterator[Marked]:
    """Yield each marker in order. Offsets that make no span are dropped, the source stays."""
    for match in PATTERN.finditer(text):
        yield Marked(_read(match), match.start(), match.end())


def strip_markers(text: str) -> str:
    """Return the text without its markers and the blanks before them."""
    return re.sub(r"[ \t]{0,4}" + PATTERN.pattern, "", text).strip()
