"""Browsing: which pages of the web are worth fetching, from what a search shows of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from urllib.parse import urlsplit

from research.llm.keyless.evidence import WebPage
from research.text.tokens import content

PAGES = 3
_OF_SITE = 2


def worth_fetching(
    pages: Sequence[WebPage], wanted: frozenset[str], tried: Collection[str]
) -> list[str]:
    """Return the addresses of the pages that promise most, best first; none that was tried."""
    shares = {page.uri: _share(page, wanted) for page in pages}
    sites: Counter[str] = Counter()
    chosen: list[str] = []
    for page in sorted(pages, key=lambda page: -shares[page.uri]):
        site = urlsplit(page.uri).netloc
        if page.uri in tried or not shares[page.uri] or sites[site] == _OF_SITE:
            continue
        sites[site] += 1
        chosen.append(page.uri)
        if len(chosen) == PAGES:
            break
    return chosen


def _share(page: WebPage, wanted: frozenset[str]) -> float:
    """Return how much of what is asked the title and the snippet say."""
    said = content(page.title) | content(page.text)
    return len(said & wanted) / max(len(wanted), 1)
