"""Find a claim in a source: word for word, or the part that says most of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from research.text.clean import is_cjk
from research.text.markers import strip_markers
from research.text.sentences import sentences

_UNMARKED = re.compile(r"[`*\"'“”‘’«»「」『』\s\\]+")
_BULLET = re.compile(r"\s{0,8}(?:[-*•>]|#{1,6}|\d{1,3}[.)])\s{1,4}")
_WORD = re.compile("[A-Za-z0-9_\u00c0-\u024f]+|[\u3400-\u9fff\u3040-\u30ff]")
_SIDE = 300
_MAX_HITS = 400
_MAX_WINDOWS = 6


@dataclass(frozen=True, slots=True)
class Window:
    """`[start:end]` of the source's text."""

    start: int
    end: int


def claim_text(claim: str) -> str:
    """Return a claim without markers, list mark and emphasis."""
    said = strip_markers(claim)
    bullet = _BULLET.match(said)
    return said[bullet.end() if bullet else 0 :].replace("**", "").strip()


def _places(text: str, first: int, last: int) -> tuple[int, int]:
    """Return where, in a text, two characters of its squeezed form stand."""
    at = count = 0
    found: list[int] = []
    for match in _UNMARKED.finditer(text):
        size = match.start() - at
        for wanted in (first, last)[len(found) :]:
            if wanted < count + size:
                found.append(at + wanted - count)
        if len(found) == 2:
            return found[0], found[1]
        count += size
        at = match.end()
    found += [at + wanted - count for wanted in (first, last)[len(found) :]]
    return found[0], found[1]


def find_exact(claim: str, text: str, near: Window | None) -> Window | None:
    """Return where a text says a claim word for word, quotation marks and blanks aside.

    `near` is looked at first, then all of the text.
    """
    wanted = _UNMARKED.sub("", claim).rstrip(".。")
    if not wanted:
        return None
    for window in ([near] if near else []) + [Window(0, len(text))]:
        part = text[window.start : window.end]
        at = _UNMARKED.sub("", part).find(wanted)
        if at >= 0:
            first, last = _places(part, at, at + len(wanted) - 1)
            return Window(window.start + first, window.start + last + 1)
    return None


def _hits(claim: str, text: str) -> Iterator[int]:
    """Yield where words of the claim stand, the rarest word's places first."""
    words = {word.lower() for word in _WORD.findall(claim) if len(word) > 2}
    runs = re.findall("[\u3400-\u9fff]{2,}", claim)
    words |= {run[index : index + 2] for run in runs for index in range(len(run) - 1)}
    low = text.lower()
    if len(low) != len(text):  # a letter whose small form is longer: keep the offsets right
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    found: list[tuple[int, list[int]]] = []
    for word in words:
        places: list[int] = []
        at = low.find(word)
        while at >= 0 and len(places) < _MAX_HITS:
            places.append(at)
            at = low.find(word, at + len(word))
        if places:
            found.append((len(places), places))
    for _, places in sorted(found)[:8]:
        yield from places


def _whole_words(text: str, start: int, end: int) -> Window:
    """Return a window that cuts no sentence it can keep whole."""
    start, end = max(0, start), min(len(text), end)
    left = max(text.rfind(mark, start - 200 if start > 200 else 0, start) for mark in "\n.。！？")
    right = min(
        (at for mark in "\n.。！？" if (at := text.find(mark, end, end + 200)) >= 0),
        default=end - 1,
    )
    return Window(left + 1 if left >= 0 else (0 if start <= 200 else start), right + 1)


def best_windows(claim: str, text: str) -> list[Window]:
    """Return the parts of a text that hold most words of a claim, best first."""
    size = max(len(claim), 80)
    wanted = {word.lower() for word in _WORD.findall(claim)}
    counts: dict[int, int] = {}
    for place in _hits(claim, text):
        slot = place // size
        if slot not in counts:
            part = text[max(0, (slot - 1) * size) : (slot + 2) * size].lower()
            counts[slot] = len(wanted & set(_WORD.findall(part)))
    best = sorted(counts, key=lambda slot: (-counts[slot], slot))[:_MAX_WINDOWS]
    return [
        _whole_words(text, slot * size - size // 2, (slot + 1) * size + size // 2) for slot in best
    ]


def narrowed(window: Window, text: str) -> list[Window]:
    """Return the sentences of a window, and each with the one after it."""
    found = sentences(text[window.start : window.end])
    spans = [(item.start, item.end) for item in found]
    spans += [(one.start, other.end) for one, other in pairwise(found)]
    return [Window(window.start + start, window.start + end) for start, end in spans[:40]]


def around(window: Window, text: str, side: int = _SIDE) -> Window:
    """Return a window with what stands on both sides of it."""
    return Window(max(0, window.start - side), min(len(text), window.end + side))


def words_in_order(text: str) -> list[str]:
    """Return the words of a text in order, each Han character as one."""
    return [
        word if is_cjk(word[0]) else word.lower() for word in _WORD.findall(text.replace("’", "'"))
    ]
