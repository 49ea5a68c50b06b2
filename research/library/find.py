"""Find passages: BM25, then what the document they stand in says about them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.contrib.auth import get_user_model

from research.library.index import Index, IndexedChunk, load, query_tokens
from research.library.page import TERM_LEVEL
from research.models.library import Collection
from research.text.headings import acronyms, heading_tokens, section_of
from research.text.items import ITEM_GAPS
from research.text.tokens import content
from research.tools.search.base import LIMIT, OutlineItem, Passage, SearchResult, SearchScope

_ASIDE = re.compile(
    r"(?:\A|[/_.-])(?:releases?|changelog|changes|changelog|history|news|internals?|release-notes|"
    r"whatsnew|contributing|appendix-obsolete\w*)(?:[/_.-]|\Z)",
    re.I,
)
_VERSIONED = re.compile(
    r"\d\.\d|\b(?:version|release|changelog|changed|new in|upgrad|deprecat|internals?|contribut)|"
    r"版本|发布|更新日志|升级|变更|内部",
    re.I,
)
_ASIDE_WEIGHT = 0.25
_POOL = 300
_OUTLINE_FIT = 0.7
_OUTLINE_ABOUT = 0.35
_FURNITURE = re.compile(
    r"(?:synopsis|descriptions?|parameters?|options?|notes?|examples?|compatibility|see also|"
    r"overview|introduction|usage|reference|arguments|return values?|diagnostics|authors?|"
    r"summary|概述|简介|参数|说明|示例|注意)\Z",
    re.I,
)
_HEADING = 0.5
_ACRONYM = 0.8
_LISTS_OF = 12
_LIST_PASSAGES = 3
_LIST_WEIGHT = 0.6


@dataclass(frozen=True, slots=True)
class _Hit:
    chunk: IndexedChunk
    score: float
    index: Index
    number: int


def readable_ids(scope: SearchScope) -> list[int]:
    """Return the ids of the scope's collections that its user may read."""
    user = None
    if scope.user_id is not None:
        user = get_user_model().objects.filter(pk=scope.user_id).first()
    collections = Collection.objects.readable_by(user)
    if scope.collection_ids is not None:
        collections = collections.filter(pk__in=scope.collection_ids)
    return list(collections.values_list("pk", flat=True))


def _hits(index: Index, words: list[str], versions: bool) -> list[_Hit]:
    scores = index.scores(words)
    count = min(_POOL, int(np.count_nonzero(scores)))
    if not count:
        return []
    best = np.argpartition(-scores, count - 1)[:count]
    best = best[np.lexsort((best, -scores[best]))]
    numbers = index.documents_of(best)
    by_document: dict[int, list[float]] = defaultdict(list)
    for number, passage in zip(numbers.tolist(), best.tolist(), strict=True):
        by_document[number].append(float(scores[passage]))
    wanted = set(words)
    worth: dict[int, float] = {}
    top = float(scores[best[0]])
    for number, found in by_document.items():
        title = content(index.documents[number].title)
        match = len(title & wanted) / len(title) if title else 0.0
        worth[number] = sum(found[:3]) / 3 / top + 0.5 * match
    highest = max(worth.values())
    rare = {word: index.rarity(word) for word in words}
    hits = []
    for number, passage in zip(numbers.tolist(), best.tolist(), strict=True):
        score = float(scores[passage]) * (0.5 + 0.5 * worth[number] / highest)
        if not versions and _ASIDE.search(index.documents[number].path):
            score *= _ASIDE_WEIGHT
        chunk = index.chunk(passage)
        score *= 1 + _HEADING * _fit(section_of(chunk.headings)[-1:], rare)
        hits.append(_Hit(chunk, score, index, passage))
    return hits


def _goes_on(chunk: IndexedChunk, following: IndexedChunk, headings: tuple[str, ...]) -> bool:
    """Tell whether a passage's list goes on, or what its last words announce is a list."""
    return (
        following.document.id == chunk.document.id
        and following.start - chunk.end in ITEM_GAPS
        and following.headings[: len(headings)] == headings
    )


def _with_lists(hits: list[_Hit], limit: int) -> list[_Hit]:
    """Return the best hits; the last give way to passages in which the lists of the first go on."""
    held = {(id(hit.index), hit.number) for hit in hits[:limit]}
    more: list[_Hit] = []
    for hit in hits[:_LISTS_OF]:
        score = hit.score
        for number in range(hit.number + 1, min(hit.number + 1 + _LIST_PASSAGES, len(hit.index))):
            following = hit.index.chunk(number)
            if not _goes_on(hit.index.chunk(number - 1), following, hit.chunk.headings):
                break
            score *= _LIST_WEIGHT
            if (id(hit.index), number) not in held:
                held.add((id(hit.index), number))
                more.append(_Hit(following, score, hit.index, number))
    more = more[: limit // 4]
    return sorted(hits[: limit - len(more)] + more, key=lambda hit: -hit.score)


def _fit(headings: tuple[str, ...], rare: dict[str, float]) -> float:
    """Return how far a passage's own heading and the query say the same, 1 for all of both."""
    own = frozenset(heading_tokens(headings[0])) if headings else frozenset()
    total = sum(rare.values())
    if not own or not total:
        return 0.0
    said = sum(weight for word, weight in rare.items() if word in own) / total
    covered = len(own & rare.keys()) / len(own)
    if acronyms(headings[0]) & rare.keys():
        covered = max(covered, _ACRONYM)
    return said * covered


def _children(chunk: IndexedChunk, parent: str) -> list[tuple[int, int, str]]:
    """Return the sections right below a heading of the passage's document."""
    outline = chunk.document.outline
    if parent == chunk.document.title:
        below = [item for item in outline if item[3] != parent and item[0] < TERM_LEVEL]
        level = min((item[0] for item in below), default=0)
    else:
        at = next((i for i, item in enumerate(outline) if item[3] == parent), None)
        if at is None or outline[at][0] >= TERM_LEVEL:
            return []
        below = []
        for item in outline[at + 1 :]:
            if item[0] <= outline[at][0]:
                break
            if item[0] < TERM_LEVEL:
                below.append(item)
        level = min((item[0] for item in below), default=0)
    return [(start, end, text) for lv, start, end, text in below if lv == level]


def _list_something(children: Sequence[tuple[int, int, str]]) -> bool:
    """Tell whether headings name things: not questions, nor the parts that any page has."""
    names = [text for _, _, text in children]
    other = sum(name.endswith(("?", "？")) or bool(_FURNITURE.match(name)) for name in names)
    return other * 3 <= len(names)


def _outline(index: Index, hits: Sequence[_Hit], words: list[str]) -> tuple[OutlineItem, ...]:
    """Return the sections below the heading that the query is most about, if it has 3 to 14.

    A heading fits by its words and by the share of the passages below it that were found.
    """
    wanted = set(words)
    found: Counter[tuple[int, str]] = Counter()
    where: dict[tuple[int, str], int] = {}
    for place, hit in enumerate(hits):
        if not index.holds(hit.chunk.document):
            continue  # of another collection
        for heading in hit.chunk.headings:
            key = (hit.chunk.document.id, heading)
            found[key] += 1
            where.setdefault(key, place)
    best: tuple[float, tuple[OutlineItem, ...]] = (_OUTLINE_FIT, ())
    rare = {word: index.rarity(word) for word in words}
    sizes: dict[int, Counter[str]] = {}
    for key, count in found.items():
        chunk = hits[where[key]].chunk
        children = _children(chunk, key[1])
        own = content(key[1])
        if count < 2 or where[key] > 15 or not 3 <= len(children) <= 14 or not own & wanted:
            continue
        if key[0] not in sizes:
            sizes[key[0]] = index.headings_in(chunk.document)
        above = content(" ".join(chunk.headings[: chunk.headings.index(key[1]) + 1]))
        about = sum(rare.get(word, 0.0) for word in above) / max(sum(rare.values()), 1e-9)
        named = own <= wanted
        if not (named or about >= _OUTLINE_ABOUT) or not _list_something(children):
            continue
        fit = count / max(sizes[key[0]][key[1]], 4) + 0.5 * about
        fit += 0.2 * len(own & wanted) / len(own) - 0.02 * where[key]
        if fit > best[0]:
            items = tuple(OutlineItem(text, a, b, where[key]) for a, b, text in children)
            best = (fit, items)
    return best[1]


def _best_outline(
    indexes: Sequence[Index], hits: Sequence[_Hit], words: list[str]
) -> tuple[OutlineItem, ...]:
    """Return the outline from the collection that the best passage is of."""
    for index in indexes:
        if hits and index.holds(hits[0].chunk.document):
            return _outline(index, hits, words)
    return ()


def search(collection_ids: Iterable[int], query: str, limit: int = LIMIT) -> SearchResult:
    """Return the best passages of these collections, blocking; the caller has checked who asks.

    Missing indexes are built first. A query without a word that counts finds nothing.
    """
    words = query_tokens(query)
    versions = bool(_VERSIONED.search(query))
    indexes = [load(item) for item in Collection.objects.filter(pk__in=list(collection_ids))]
    hits = [hit for index in indexes for hit in _hits(index, words, versions)]
    hits.sort(key=lambda hit: -hit.score)
    hits = _with_lists(hits, limit)
    passages = tuple(
        Passage(
            uri=f"library:{hit.chunk.document.id}",
            title=hit.chunk.document.title,
            headings=hit.chunk.headings,
            kind="row" if hit.chunk.row else "prose",
            start=hit.chunk.start,
            end=hit.chunk.end,
            score=round(hit.score, 4),
            text=hit.chunk.text,
            document_id=hit.chunk.document.id,
            archive_hash=hit.chunk.document.hash,
        )
        for hit in hits
    )
    return SearchResult(
        provider="library",
        query=query,
        passages=passages,
        documents=sum(map(len, indexes)),
        frequencies={word: sum(index.frequency(word) for index in indexes) for word in words},
        outline=_best_outline(indexes, hits, words),
        notice="" if indexes else "There is no collection to search.",
    )
