"""Make a chosen sentence stand on its own: with the one it leans on, and what goes on from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from research.llm.keyless.candidates import (
    MAX_CHARS,
    Candidate,
    has_end,
    is_code,
    is_dangling,
    is_debris,
    is_pointer,
    opens_as_pointer,
)
from research.llm.keyless.evidence import Found
from research.llm.keyless.lists import Item, Lists, within
from research.llm.keyless.rank import Scored
from research.text.markers import Marker
from research.text.sentences import Sentence, sentences
from research.text.tokens import content

EXTENDED = 300
EXTENDED_ZH = 150


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a source, and the text there, on one line."""

    source: int
    start: int
    end: int
    text: str
    words: frozenset[str]
    items: tuple[Quote, ...] = ()

    @property
    def marker(self) -> Marker:
        """Return how notes and sections name it."""
        return Marker(self.source, self.start, self.end)

    def line(self) -> str:
        """Return it as a note has it, the items that it announces below it."""
        below = [f"\n  {item.line()}" for item in self.items]
        return f"- {self.text} {self.marker}{''.join(below)}"


def _same_line(every: Sequence[Sentence], index: int, step: int) -> bool:
    other = index + step
    return 0 <= other < len(every) and every[other].line == every[index].line


def _fits(text: str) -> bool:
    return not is_debris(text) and not text.endswith((":", "：", "?", "？"))


def extend(candidate: Candidate, room: int) -> tuple[int, int] | None:
    """Return the span of a quote with what it needs, in its passage, or None if it cannot stand.

    Backwards it takes the sentence that a "This …" is about; forwards, what follows in the same
    paragraph while there is room.
    """
    if candidate.sentence is None:
        return candidate.at, candidate.to
    text = candidate.passage.text
    every = sentences(text)
    here = next((i for i, item in enumerate(every) if item.start == candidate.at), None)
    if here is None:
        return candidate.at, candidate.to
    first = last = here
    while is_dangling(text[every[first].start : every[first].end]):
        if here - first >= 2 or not _same_line(every, first, -1):
            before = first - 1
            whole = before >= 0 and has_end(text[every[before].start : every[before].end])
            if (
                not whole
                or text[every[before].end : every[first].start].strip(" \n")
                or here - first >= 2
            ):
                return None
        if every[last].end - every[first - 1].start > MAX_CHARS:
            return None
        first -= 1
    while _same_line(every, last, 1):
        following = every[last + 1]
        said = text[following.start : following.end]
        if following.end - every[first].start > room or not _fits(said) or is_pointer(said):
            break
        last += 1
    return every[first].start, every[last].end


def _made(passage: Found, at: int, to: int) -> Quote:
    # What a colon announces, a listing or a list, is not quoted: the sentence ends before it.
    to -= passage.text[at:to].endswith((":", "："))
    said = passage.text[at:to].replace("\n", " ")
    return Quote(passage.source, passage.start + at, passage.start + to, said, content(said))


def quote(item: Scored, lists: Lists, room: int = EXTENDED) -> Quote | None:
    """Return a chosen sentence as a quote that can be read alone, None if it cannot.

    One that announces a list has its items; if it leans on something, its section's first
    sentence leads them.
    """
    candidate = item.quote
    if candidate.sentence and (opens_as_pointer(candidate.text) or is_code(candidate.text)):
        return None
    span = extend(candidate, room)
    items = within(item.items, 2 * room)
    if span is not None:
        made = _made(candidate.passage, *span)
    elif opening := lists.opening(candidate) if items else None:
        made = _made(opening.passage, opening.at, opening.to)
        items = [Item(candidate.passage, candidate.at, candidate.to), *items]
    else:
        return None
    if not items:
        return made
    return replace(made, items=tuple(_made(one.passage, one.at, one.to) for one in items))


def overlaps(one: Quote, other: Quote) -> bool:
    """Tell whether a quote shares text of a source with another or with its items."""
    return any(
        one.source == it.source and one.start < it.end and it.start < one.end
        for it in (other, *other.items)
    )


def without(one: Quote, others: Sequence[Quote]) -> Quote:
    """Return a quote without the items that others say."""
    kept = [item for item in one.items if not any(overlaps(item, other) for other in others)]
    return replace(one, items=tuple(kept))
