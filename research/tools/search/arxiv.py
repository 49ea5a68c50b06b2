"""arXiv as a search provider: abstracts of papers, in English."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from django.conf import settings
from lxml import etree

from research.text.language import language
from research.text.tokens import content
from research.tools.search.base import LIMIT, ProviderDown, SearchResult, SearchScope
from research.web import client

from .snippets import Hit, snippets

RESULTS = 5
WORDS = 6
MAX_BYTES = 1_000_000
ATOM = {"a": "http://www.w3.org/2005/Atom"}


class ArxivSearch:
    """Searches the abstracts of arXiv."""

    name = "arxiv"

    async def search(self, query: str, scope: SearchScope, limit: int = LIMIT) -> SearchResult:
        """Return the abstracts that hold the words of an English query."""
        words = [
            word
            for word in "".join(s if s.isalnum() else " " for s in query).split()
            if content(word)
        ][:WORDS]
        if not words or language(query) != "en":
            return SearchResult(self.name, query)
        asked = {
            "search_query": " AND ".join(f"all:{word}" for word in words),
            "max_results": min(limit, RESULTS),
            "sortBy": "relevance",
        }
        answer = await client.get(
            f"{settings.ARXIV_URL}/api/query?{urlencode(asked)}",
            accept="application/atom+xml",
            max_bytes=MAX_BYTES,
        )
        return SearchResult(self.name, query, tuple(snippets(_hits(answer.body), RESULTS)))


def _hits(body: bytes) -> Iterator[Hit]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        feed = etree.fromstring(body, parser)
    except etree.XMLSyntaxError as error:
        raise ProviderDown("it answered what is none of its answers") from error
    if feed.tag != f"{{{ATOM['a']}}}feed":
        raise ProviderDown("it answered what is none of its answers")
    for entry in feed.iterfind("a:entry", ATOM):
        link, title, summary = (
            entry.findtext(f"a:{name}", "", ATOM) for name in ("id", "title", "summary")
        )
        if "/api/errors" not in link:
            yield link.replace("http://arxiv.org/", "https://arxiv.org/"), title, summary
