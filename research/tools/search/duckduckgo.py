"""DuckDuckGo as a search provider, through the library `ddgs`."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from django.conf import settings

from research.text.language import language
from research.tools.search.base import LIMIT, ProviderDown, SearchResult, SearchScope

from .snippets import Hit, snippets

if TYPE_CHECKING:
    from ddgs.engines.duckduckgo import Duckduckgo

RESULTS = 10
TIMEOUT_S = 3
REGIONS = {"zh": "cn-zh", "en": "us-en"}
# Threads of its own: one that hangs keeps nobody else waiting. It ends by its own time limit.
_threads = ThreadPoolExecutor(4, thread_name_prefix="duckduckgo")


class DuckDuckGoSearch:
    """Searches the web without a key."""

    name = "duckduckgo"

    async def search(self, query: str, scope: SearchScope, limit: int = LIMIT) -> SearchResult:
        """Return snippets of pages, in the order of the site."""
        loop = asyncio.get_running_loop()
        hits = await loop.run_in_executor(_threads, _ask, query)
        return SearchResult(self.name, query, tuple(snippets(hits, min(limit, RESULTS))))


def _ask(query: str) -> list[Hit]:
    # Late: the library brings all of its engines, a quarter of a second for each start.
    from ddgs.exceptions import DDGSException

    engine = _engine()(timeout=TIMEOUT_S)
    engine.search_url = settings.DUCKDUCKGO_URL
    try:
        found = engine.search(query, region=REGIONS[language(query)])
    except (DDGSException, ValueError) as error:  # what is no HTML is a ValueError of lxml
        raise ProviderDown("it did not answer") from error
    if found is None:
        raise ProviderDown("it answered with an error")
    return [(_target(item.href), item.title, item.body) for item in found]


@cache
def _engine() -> type[Duckduckgo]:
    from ddgs.engines.duckduckgo import Duckduckgo
    from ddgs.results import TextResult

    class Result(TextResult):
        # The library unquotes addresses, which makes others of those with a quoted `?` or `#`.
        _normalizers = {
            name: normalize for name, normalize in TextResult._normalizers.items() if name != "href"
        }

    class Engine(Duckduckgo):
        result_type = Result

    return Engine


def _target(href: str) -> str:
    """Return where a result leads; the site counts clicks on the way to some."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return href
    if (parts.hostname or "").endswith("duckduckgo.com") and parts.path == "/l/":
        return parse_qs(parts.query).get("uddg", [href])[0]
    return href
