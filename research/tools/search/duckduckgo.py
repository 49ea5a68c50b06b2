"""DuckDuckGo as a search provider, through the library `ddgs`."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from ddgs.engines.duckduckgo import Duckduckgo
from ddgs.exceptions import DDGSException
from django.conf import settings

from research.text.language import language
from research.tools.search.base import LIMIT, ProviderDown, SearchResult, SearchScope

from .snippets import Hit, snippets

RESULTS = 10
TIMEOUT_S = 3
REGIONS = {"zh": "cn-zh", "en": "us-en"}
# Shared by all who search here: the site is asked by two at once at most.
_threads = ThreadPoolExecutor(2, thread_name_prefix="duckduckgo")


class DuckDuckGoSearch:
    """Searches the web without a key."""

    name = "duckduckgo"

    async def search(self, query: str, scope: SearchScope, limit: int = LIMIT) -> SearchResult:
        """Return snippets of pages, in the order of the site."""
        loop = asyncio.get_running_loop()
        hits = await loop.run_in_executor(_threads, _ask, query)
        return SearchResult(self.name, query, tuple(snippets(hits, min(limit, RESULTS))))


def _ask(query: str) -> list[Hit]:
    engine = Duckduckgo(timeout=TIMEOUT_S)
    engine.search_url = settings.DUCKDUCKGO_URL
    try:
        found = engine.search(query, region=REGIONS[language(query)])
    except (DDGSException, ValueError) as error:  # what is no HTML is a ValueError of lxml
        raise ProviderDown("it did not answer") from error
    if found is None:
        raise ProviderDown("it answered with an error")
    return [(item.href, item.title, item.body) for item in found]
