"""Judge whether a source says what a claim says, by its words alone.

Similarity decides nothing: a claim with one number, name or "not" exchanged is as similar to its
source as a fair paraphrase. So numbers, negation and names are compared first, then how much of
the claim stands in the source, and in which order.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import LCSseq

from research.text.tokens import STOP, content, stem
from research.text.windows import (
    Window,
    around,
    best_windows,
    claim_text,
    find_exact,
    narrowed,
    words_in_order,
)

Outcome = Literal["supported", "partly", "not_found"]
Reason = Literal[
    "quote", "near", "paraphrase", "altered", "number", "negation", "name", "unsupported"
]

_OUTCOMES: dict[Reason, Outcome] = {
    "quote": "supported",
    "near": "supported",
    "paraphrase": "supported",
    "altered": "partly",
    "number": "not_found",
    "negation": "not_found",
    "name": "not_found",
    "unsupported": "not_found",
}
_TELLING_WORDS = (
    "before after more most less least all any some only each both up down over under until "
    "unless once further same other without above below from into out off"
)
_TELLING = frozenset(_TELLING_WORDS.split())
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = re.compile(
    r"\b(?:not|no|never|cannot|nor|neither|none|nothing|without|unable|hardly)\b|n't\b|[不没未无勿非莫]",
    re.I,
)
_IDENTIFIER = re.compile(
    r"\b(?:[A-Za-z0-9]+_\w+|_\w+|[a-z]+[A-Z]\w*|[A-Z]+[a-z]+[A-Z]\w*|[A-Z]{2,}[A-Z0-9]*|"
    r"\w+(?=\(\)))"
)
_NAME = re.compile(r"(?<=[a-z,;)] )[A-Z][a-z]\w+")
_CUT = re.compile(r"\s?(?:\.\.\.|…+|\[…\]|\[\.\.\.\])\s?")
_ORDER_NEAR = 0.9
_ORDER_ALTERED = 0.75
_COVER_ALTERED = 0.85
_COVER_PARAPHRASE = 0.35


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came out, why, and `[start:end]` of the source's text that was compared."""

    verdict: Outcome
    reason: Reason
    start: int | None = None
    end: int | None = None


def _numbers(text: str) -> Counter[str]:
    return Counter(
        re.sub(r",(?=\d{3}\b)", "", found).rstrip(".,") for found in _NUMBER.findall(text)
    )


def _names(text: str) -> set[str]:
    return {name.lower() for rule in (_IDENTIFIER, _NAME) for name in rule.findall(text)}


def _telling(word: str) -> bool:
    return word not in STOP or word in _TELLING


def _stems(text: str) -> list[str]:
    return [stem(word) for word in words_in_order(text)]


@dataclass(frozen=True, slots=True)
class _Fit:
    reason: Reason
    strength: float


def _negated(claim: str, said: str, ours: list[str], theirs: list[str]) -> bool:
    """Tell whether one of claim and source negates and the other does not, where they meet."""
    matched = [op.dest_start for op in LCSseq.opcodes(ours, theirs) if op.tag == "equal"]
    ends = [op.dest_end for op in LCSseq.opcodes(ours, theirs) if op.tag == "equal"]
    if not matched:
        return False
    places = [
        match.span()
        for match in re.finditer("[A-Za-z0-9_\u00c0-\u024f]+|[\u3400-\u9fff\u3040-\u30ff]", said)
    ]
    first, last = matched[0], ends[-1] - 1
    # One word more on each side: "does not" may stand just before the first common word.
    start = places[max(0, first - 1)][0]
    end = places[min(len(places) - 1, last + 1)][1]
    return len(_NEGATION.findall(claim)) % 2 != len(_NEGATION.findall(said[start:end])) % 2


def _compare(claim: str, said: str, wide: str) -> _Fit:
    """Return how a claim fits a part of the source; names may stand around it, in `wide`."""
    ours, theirs = _stems(claim), _stems(said)
    if not ours or not theirs:
        return _Fit("unsupported", 0.0)
    words = content(claim)
    cover = len(words & content(said)) / len(words) if words else 0.0
    order = LCSseq.similarity(ours, theirs) / len(ours)
    strength = order + cover
    numbers = _numbers(claim) - _numbers(said)
    if numbers and (order >= _ORDER_ALTERED or numbers.keys() - _numbers(said).keys()):
        return _Fit("number", strength)
    if _names(claim) - {word.lower() for word in re.findall(r"\w+", wide)}:
        return _Fit("name", strength)
    if cover >= _COVER_PARAPHRASE and _negated(claim, said, ours, theirs):
        return _Fit("negation", strength)
    telling = Counter(stem(word) for word in words_in_order(claim) if _telling(word))
    strange = bool(telling - Counter(theirs))
    if order >= _ORDER_NEAR and not strange:
        return _Fit("near", strength)
    if (cover >= _COVER_ALTERED and order < _ORDER_NEAR) or (order >= _ORDER_ALTERED and strange):
        return _Fit("altered", strength)
    if cover >= _COVER_PARAPHRASE:
        return _Fit("paraphrase", strength)
    return _Fit("unsupported", strength)


def _pieces(claim: str, text: str, near: Window | None) -> Window | None:
    """Return the part of a source that a claim quotes with its middle cut out."""
    parts = [part.strip(" ,;，；") for part in _CUT.split(claim)]
    if len(parts) < 2 or any(len(part) < 8 for part in parts):
        return None
    start = end = None
    for part in parts:
        found = find_exact(part, text, Window(end, min(len(text), end + 1000)) if end else near)
        if found is None or (end is not None and not 0 <= found.start - end <= 1000):
            return None
        start = found.start if start is None else start
        end = found.end
    assert start is not None and end is not None
    return Window(start, end)


def classify(
    claim: str, source_text: str, start: int | None = None, end: int | None = None
) -> Verdict:
    """Judge a claim against `[start:end]` of a source's text, or against its best part.

    Offsets are code points. The verdict's offsets are the quote's if the claim is one, else those
    of the part it was compared with; None if the source holds none of its words.
    """
    said = claim_text(claim)
    near: Window | None = None
    if start is not None and end is not None and 0 <= start < end <= len(source_text):
        near = Window(start, end)
    exact = find_exact(said, source_text, near) if said else None
    if exact:
        return Verdict("supported", "quote", exact.start, exact.end)
    cut = _pieces(said, source_text, near)
    if cut:
        return Verdict("supported", "near", cut.start, cut.end)
    if near:
        windows = [near]
    else:
        rough = best_windows(said, source_text)
        windows = list(dict.fromkeys(part for one in rough for part in narrowed(one, source_text)))
    best: tuple[float, _Fit, Window] | None = None
    for window in windows:
        wide = around(window, source_text)
        fit = _compare(
            said, source_text[window.start : window.end], source_text[wide.start : wide.end]
        )
        rank = fit.strength - 0.1 * (window.end - window.start) / len(said)
        if best is None or rank > best[0]:
            best = (rank, fit, window)
    if best is None:
        return Verdict("not_found", "unsupported")
    _, fit, window = best
    return Verdict(_OUTCOMES[fit.reason], fit.reason, window.start, window.end)
