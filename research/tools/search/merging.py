"""Merging what several providers found into one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .base import OutlineItem, Passage, SearchResult
from .snippets import page_key

_K = 60
"""Of reciprocal rank fusion: how little a first place counts above a second."""


def merged(query: str, results: Sequence[SearchResult]) -> SearchResult:
    """Return one result: the first of each provider, then the second of each, and so on.

    Scores of different providers cannot be compared, places can. A page that two providers found
    rises, and stands once.
    """
    if len(results) == 1:
        return results[0]
    best: dict[str, tuple[Passage, SearchResult, int]] = {}
    points: dict[str, float] = {}
    for result in results:
        for place, passage in enumerate(result.passages):
            key = (
                page_key(passage.uri)
                if passage.kind == "snippet"
                else f"{passage.uri}#{passage.start}"
            )
            best.setdefault(key, (passage, result, place))
            points[key] = points.get(key, 0.0) + 1 / (_K + place)
    order = sorted(best, key=lambda key: -points[key])
    passages = [best[key][0] for key in order]
    return SearchResult(
        provider=", ".join(result.provider for result in results),
        query=query,
        passages=tuple(passages),
        documents=max((result.documents for result in results), default=0),
        frequencies=max(results, key=lambda result: result.documents).frequencies
        if results
        else {},
        outline=tuple(_outline(results, [best[key][1:] for key in order])),
        texts={uri: text for result in results for uri, text in result.texts.items()},
        notice=" ".join(result.notice for result in results if result.notice),
    )


def _outline(
    results: Sequence[SearchResult], order: Sequence[tuple[SearchResult, int]]
) -> list[OutlineItem]:
    """Return the outlines, each item with the new place of its passage."""
    places = {(result.provider, place): index for index, (result, place) in enumerate(order)}
    return [
        replace(item, passage=places[result.provider, item.passage])
        for result in results
        for item in result.outline
        if (result.provider, item.passage) in places
    ]
