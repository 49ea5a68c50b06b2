"""Choose few quotes that say much and repeat little."""

from __future__ import annotations

from collections.abc import Sequence

from research.llm.keyless.query import Query
from research.llm.keyless.rank import Scored

_LAMBDA = 0.85
_SAME = 0.75
_COVER = 0.25


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller else 0.0


def choose(
    ranked: Sequence[Scored], query: Query, count: int, taken: Sequence[frozenset[str]] = ()
) -> list[Scored]:
    """Choose up to `count` quotes: good, unlike each other, and covering the query's words."""
    pool = list(ranked[:80])
    chosen: list[Scored] = []
    used: list[frozenset[str]] = list(taken)
    unseen = dict(query.weights)
    total = sum(unseen.values()) or 1.0
    while pool and len(chosen) < count:
        best: tuple[float, Scored] | None = None
        for item in pool:
            words = item.quote.words
            like = max((_overlap(words, other) for other in used), default=0.0)
            if like > _SAME:
                continue
            fresh = sum(weight for word, weight in unseen.items() if word in words) / total
            worth = _LAMBDA * item.score - (1 - _LAMBDA) * like + _COVER * fresh
            if best is None or worth > best[0]:
                best = (worth, item)
        if best is None:
            break
        chosen.append(best[1])
        used.append(best[1].quote.words)
        for word in best[1].quote.words:
            unseen.pop(word, None)
        pool.remove(best[1])
    return chosen
