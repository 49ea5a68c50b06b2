"""Wikipedia as a search provider: the article's beginning, in the language of the query."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.conf import settings

from research.text.language import language
from research.tools.search.base import LIMIT, ProviderDown, SearchResult, SearchScope
from research.web import client

from .snippets import Hit, snippets

RESULTS = 5
EXTRACT = 1000  # characters
MAX_BYTES = 1_000_000


class WikipediaSearch:
    """Searches the encyclopedia, through the API of MediaWiki."""

    name = "wikipedia"

    async def search(self, query: str, scope: SearchScope, limit: int = LIMIT) -> SearchResult:
        """Return how the articles begin that fit best."""
        asked = {
            "action": "query",
            "format": "json",
            "formatversion": 2,
            "generator": "search",
            "gsrsearch": query[:300],
            "gsrlimit": min(limit, RESULTS),
            "prop": "extracts|info",
            "inprop": "url",
            "exintro": 1,
            "explaintext": 1,
            "exchars": EXTRACT,
            "exlimit": "max",
        }
        site = settings.WIKIPEDIA_URL.replace("{language}", language(query))
        answer = await client.get(
            f"{site}/w/api.php?{urlencode(asked)}", accept="application/json", max_bytes=MAX_BYTES
        )
        return SearchResult(self.name, query, tuple(snippets(_hits(answer.body), RESULTS)))


def _hits(body: bytes) -> Iterator[Hit]:
    try:
        answer = json.loads(body)
        pages: list[dict[str, Any]] = answer.get("query", {}).get("pages", [])
        for page in sorted(pages, key=lambda page: page.get("index", 0)):
            yield page["canonicalurl"], str(page["title"]), str(page.get("extract", ""))
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise ProviderDown("it answered what is none of its answers") from error
