"""The user's own documents as a search provider."""

from __future__ import annotations

import asyncio

from django.db import close_old_connections

from research.library.find import readable_ids, search
from research.tools.search.base import LIMIT, SearchResult, SearchScope


class LibrarySearch:
    """Searches the collections that the scope's user may read."""

    name = "library"

    async def search(self, query: str, scope: SearchScope, limit: int = LIMIT) -> SearchResult:
        """Return the best passages; ranking runs in a thread, the event loop stays free."""
        return await asyncio.to_thread(self._search, query, scope, limit)

    def _search(self, query: str, scope: SearchScope, limit: int) -> SearchResult:
        close_old_connections()
        try:
            return search(readable_ids(scope), query, limit)
        finally:
            close_old_connections()
