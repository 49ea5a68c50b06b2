"""What is sought in a task: its words with their weights, and the facet that an answer shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from research.llm.keyless.evidence import Evidence
from research.llm.keyless.facets import WORDS, Facet
from research.text.language import Language
from research.text.tokens import content, tokens

_EXPANSION = 0.4


@dataclass(frozen=True, slots=True)
class Query:
    """What is sought: words with their weight, and the facet that it should show."""

    weights: dict[str, float]
    sides: tuple[frozenset[str], ...]
    facet: Facet
    language: Language


def make_query(
    evidence: Evidence,
    main: str,
    inherited: str,
    facet: Facet,
    language: Language,
    sides: Sequence[str] = (),
) -> Query:
    """Return a query of the main words, and the words it inherits at 0.8."""
    weights: dict[str, float] = {}
    wider = set(tokens(WORDS[language][facet].more))
    for text, factor in ((inherited, 0.8), (main, 1.0)):
        said = tokens(text)
        for word in said:
            if evidence.known(word):
                here = _EXPANSION if word in wider and text is inherited else factor
                weights[word] = here * min(evidence.idf(word), 7.0)
    named = tuple(content(side) for side in sides)
    return Query(weights, tuple(side for side in named if side), facet, language)


def share(words: frozenset[str], query: Query) -> float:
    """Return the share of the query's weight that words cover; none counts for over half."""
    total = sum(query.weights.values())
    if not total:
        return 0.0
    cap = max(total * 0.5, 1e-9) if len(query.weights) > 1 else total
    held = sum(min(weight, cap) for word, weight in query.weights.items() if word in words)
    return min(1.0, held / (0.8 * total))


def both_sides(words: frozenset[str], query: Query) -> float:
    """Return the share of a comparison's sides that a sentence names; naming one is nothing."""
    if len(query.sides) < 2:
        return 0.0
    named = sum(side <= words for side in query.sides)
    return named / len(query.sides) if named > 1 else 0.0
