"""Lists: what a sentence announces, item by item."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from research.llm.keyless.candidates import Candidate, is_dangling, is_debris, is_pointer
from research.llm.keyless.evidence import Evidence, Found
from research.text.items import ITEM, ITEM_GAPS
from research.text.sentences import sentences

_ANNOUNCES = re.compile(
    r"[:：]\Z|\bfollowing\b|\bas follows\b|\bthese (?:\w+ ){1,3}(?:are|include)\b|"
    r"以下|如下|下列",
    re.I,
)
_ASIDE = re.compile(r"\n\n(?!- )[^\n]+(?=\n\n- )")
_MIN_ITEMS = 2
_MAX_ITEMS = 40
_MAX_CHARS = 260
_REMARK = 120


@dataclass(frozen=True, slots=True)
class Item:
    """An item's first sentence: `[at:to]` of a passage's text."""

    passage: Found
    at: int
    to: int

    @property
    def text(self) -> str:
        """Return its words."""
        return self.passage.text[self.at : self.to]

    @property
    def start(self) -> int:
        """Return where it starts in its source."""
        return self.passage.start + self.at


class Lists:
    """Finds the items that a sentence announces in the passages of an evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self._starts = {(item.source, item.start): item for item in evidence.passages}

    def announced(self, quote: Candidate) -> list[Item]:
        """Return the items after a sentence that announces a list, none if it does not."""
        passage = quote.passage
        if quote.sentence is None or not _ANNOUNCES.search(quote.text):
            return []
        text = passage.text
        end = text.find("\n", quote.to)
        to = len(text) if end < 0 else end
        if to - quote.to > _REMARK or (to < len(text) and not ITEM.match(text, to)):
            return []
        every = [self._first(*line) for line in self._lines(passage, to)]
        items = [item for item in every if item is not None]
        return items if len(items) >= _MIN_ITEMS else []

    def opening(self, quote: Candidate) -> Item | None:
        """Return the first sentence of the section that a quote stands in, if it can be read."""
        passage = quote.passage
        starts = [
            item.start
            for (source, _), item in self._starts.items()
            if source == passage.source and item.headings == passage.headings and not item.row
        ]
        first = self._starts[passage.source, min(starts)]
        item = self._first(first, 0, len(first.text))
        if item is None or item.start >= quote.start or is_dangling(item.text):
            return None
        return item

    def _lines(self, passage: Found, at: int) -> Iterator[tuple[Found, int, int]]:
        """Yield the lines of the list that starts after `at`, over the passages it goes on in."""
        headings = passage.headings
        for _ in range(_MAX_ITEMS):
            text = passage.text
            aside = _ASIDE.match(text, at)
            if aside and not aside[0].endswith((":", "：")):
                at = aside.end()
            if match := ITEM.match(text, at):
                at = match.end()
            elif at == len(text) and (following := self._following(passage, headings)):
                passage, at = following, 0
                text = passage.text
            else:
                return
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            yield passage, at, end
            at = end

    def _following(self, passage: Found, headings: tuple[str, ...]) -> Found | None:
        for gap in ITEM_GAPS:
            found = self._starts.get((passage.source, passage.end + gap))
            if found and not found.row and found.headings[: len(headings)] == headings:
                return found
        return None

    def _first(self, passage: Found, at: int, end: int) -> Item | None:
        found = sentences(passage.text[at:end])
        if not found:
            return None
        item = Item(passage, at + found[0].start, at + found[0].end)
        said = item.text
        unfit = len(said) > _MAX_CHARS or is_debris(said) or is_pointer(said)
        is_name = said.endswith(")") and " " not in said
        return None if unfit or is_name or len(said) < 4 else item


def within(items: Sequence[Item], room: int) -> list[Item]:
    """Return the first items that fit in so many characters."""
    kept: list[Item] = []
    for item in items:
        room -= item.to - item.at
        if room < 0:
            break
        kept.append(item)
    return kept
