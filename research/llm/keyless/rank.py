"""Score the quotes for a question.

The weights were measured on questions with known answers over three corpora; see the evaluation.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from research.llm.keyless.candidates import (
    Candidate,
    candidates,
    has_end,
    is_dangling,
    is_debris,
    is_pointer,
    is_unbalanced,
    points_elsewhere,
    symbol_share,
)
from research.llm.keyless.evidence import Evidence, Found
from research.llm.keyless.facets import WORDS
from research.llm.keyless.lists import Item, Lists
from research.llm.keyless.query import Query, both_sides, share
from research.text.headings import acronyms, heading_tokens
from research.text.language import Language
from research.text.tokens import content

_INHERITED = 0.42
_INHERITED_CUED = 0.7
_OWN = 1.0
_TITLE = 0.3
_SIDES = 0.3
_PASSAGE = 0.25
_CONTAINS = 0.30
_COVERS = 0.25
_NEAR = 0.25
_CUE = 0.18
_HEADING_CUE = 0.30
_WORTH = 0.25
_SECTION_FIRST = 0.15
_SECTION_LEAD = 0.45
_PARAGRAPH_FIRST = 0.06
_ROW = 0.3
_ITEM = 0.3
_ELSEWHERE = 0.2
_COLON = 0.4
_LIST = 0.05
_RAISED = 0.9
_CODE_ROW = 0.6
_CENTROID_PASSAGES = 15


@dataclass(frozen=True, slots=True)
class Scored:
    """A quote and how well it answers.

    `own` is the share of the query that it says, `match` that with its headings; `cued` tells that
    it sounds like the facet; `items` are what it announces.
    """

    quote: Candidate
    score: float
    match: float
    own: float
    cued: bool
    items: tuple[Item, ...] = ()


def _heading_words(heading: str) -> frozenset[str]:
    return frozenset(heading_tokens(heading)) | acronyms(heading)


@dataclass(frozen=True, slots=True)
class _Section:
    match: float
    contains: float
    covers: float
    cued: bool


class Ranker:
    """Scores the quotes of one evidence for any number of queries."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.quotes = candidates(evidence)
        self.lists = Lists(evidence)
        self._items = [tuple(self.lists.announced(quote)) for quote in self.quotes]
        self._centroid = self._make_centroid(evidence.passages[:_CENTROID_PASSAGES])
        firsts: dict[tuple[int, tuple[str, ...]], int] = {}
        for passage in evidence.passages:
            key = (passage.source, passage.headings)
            firsts[key] = min(firsts.get(key, passage.start), passage.start)
        self._firsts = firsts
        self._worth = self._documents()
        near = [self._nearness(quote.words) for quote in self.quotes]
        top = max(near, default=0.0) or 1.0
        self._near = [value / top for value in near]

    def _make_centroid(self, passages: Sequence[Found]) -> dict[str, float]:
        total: Counter[str] = Counter()
        for passage in passages:
            for word in content(passage.text):
                total[word] += 1
        count = max(len(passages), 1)
        return {word: n / count for word, n in total.items() if n > 1}

    def _documents(self) -> dict[int, float]:
        """Return how much of what was found stands in each source, 1 for the source with most."""
        scores: dict[int, list[float]] = defaultdict(list)
        for passage in self.evidence.passages:
            scores[passage.source].append(passage.score)
        worth = {source: sum(found[:4]) for source, found in scores.items()}
        top = max(worth.values(), default=1.0) or 1.0
        return {source: value / top for source, value in worth.items()}

    def _nearness(self, words: frozenset[str]) -> float:
        if not words:
            return 0.0
        return sum(self._centroid.get(word, 0.0) for word in words) / math.sqrt(len(words) + 4)

    def _section(self, passage: Found, query: Query) -> _Section:
        path = passage.headings or (passage.title,)
        own = _heading_words(path[-1])
        everything = own.union(*(_heading_words(heading) for heading in path))
        weight = {word: query.weights.get(word, 0.0) for word in own}
        covers = 0.0
        plain = frozenset(heading_tokens(path[-1]))
        if plain:
            covers = sum(bool(weight[word]) for word in plain) / len(plain)
        if any(word in query.weights for word in acronyms(path[-1])):
            covers = max(covers, 0.8)
        cue = WORDS[query.language][query.facet].heading
        return _Section(
            match=share(everything, query),
            contains=share(own, query),
            covers=covers,
            cued=any(bool(cue.search(heading)) for heading in path[-2:]),
        )

    def rank(self, query: Query) -> list[Scored]:
        """Return the quotes, best first."""
        cue = WORDS[query.language][query.facet].cue
        sections: dict[tuple[int, tuple[str, ...]], _Section] = {}
        scored: list[Scored] = []
        lists = self._items if query.facet != "compare" else [()] * len(self.quotes)
        for quote, near, items in zip(self.quotes, self._near, lists, strict=True):
            passage = quote.passage
            key = (passage.source, passage.headings)
            if key not in sections:
                sections[key] = self._section(passage, query)
            section = sections[key]
            text = quote.text
            own = share(quote.words, query)
            handed = _INHERITED_CUED if section.cued else _INHERITED
            match = max(own, handed * section.match)
            cued = bool(cue.search(text))
            score = _OWN * match + _PASSAGE * passage.score
            score += _TITLE * section.contains * section.covers
            score += _SIDES * both_sides(quote.words, query)
            score += _CONTAINS * section.contains + _COVERS * section.covers
            score += _NEAR * near + (_CUE if cued else 0.0)
            score += _HEADING_CUE * min(1.0, section.match * 1.25) if section.cued else 0.0
            if query.facet == "list" and quote.is_item:
                score += _ITEM * section.match
            score += _WORTH * self._worth[passage.source]
            score += self._place(quote, section)
            score -= self._faults(text, quote, query.language, bool(items))
            if quote.sentence is None:
                score += _ROW if query.facet == "number" and any(map(str.isdigit, text)) else -0.1
            match = max(own, 0.9 * section.match)
            scored.append(Scored(quote, score, match, own, cued, items))
        scored = self._raised(scored)
        scored.sort(key=lambda item: (-item.score, item.quote.passage.source, item.quote.start))
        return scored

    def _raised(self, scored: Sequence[Scored]) -> list[Scored]:
        """Return the same, each that announces a list as good as what it announces."""
        scores = {(item.quote.passage.source, item.quote.start): item.score for item in scored}
        found = []
        for item in scored:
            source = item.quote.passage.source
            below = sorted(scores.get((source, one.start), 0.0) for one in item.items)[-2:]
            if below:
                item = replace(
                    item, score=max(item.score, _RAISED * sum(below) / len(below)) + _LIST
                )
            found.append(item)
        return found

    def _place(self, quote: Candidate, section: _Section) -> float:
        """Return what standing first is worth: sections and paragraphs open with what they mean."""
        if quote.sentence is None:
            return 0.0
        passage = quote.passage
        first = quote.index == 0 and self._firsts[passage.source, passage.headings] == passage.start
        if first:
            return _SECTION_FIRST + _SECTION_LEAD * section.covers * min(
                1.0, section.contains + 0.2
            )
        return _PARAGRAPH_FIRST if quote.sentence.first else 0.0

    def _faults(self, text: str, quote: Candidate, language: Language, announces: bool) -> float:
        worse = 0.0
        if text.endswith((":", "：")) and not announces:
            worse += _COLON
        if is_pointer(text):
            worse += 0.25
        if points_elsewhere(text) and not announces:
            worse += _ELSEWHERE
        if is_unbalanced(text):
            worse += 0.3
        if is_dangling(text):
            worse += 0.12
        if symbol_share(text) > (0.12 if quote.sentence else 0.08):
            worse += 0.3 if quote.sentence else _CODE_ROW
        if text.endswith(("?", "？")):
            worse += 0.25
        if quote.sentence is not None:
            if not has_end(text) and not text.endswith((":", "：")):
                worse += 0.1 if len(quote.words) > 7 else 0.3
            if text.startswith(("(", "（")):
                worse += 0.2
            if is_debris(text):
                worse += 0.6
        if len(quote.words) > (60 if language == "zh" else 45):
            worse += 0.1
        return worse
