"""Asking several providers at once: under one deadline, without those that are down."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID
from weakref import WeakKeyDictionary

from research.tools.search.arxiv import ArxivSearch
from research.tools.search.base import (
    ProviderBusy,
    ProviderDown,
    SearchProvider,
    SearchResult,
    SearchScope,
)
from research.tools.search.duckduckgo import DuckDuckGoSearch
from research.tools.search.library import LibrarySearch
from research.tools.search.names import LOCAL
from research.tools.search.pace import Pace
from research.tools.search.wikipedia import WikipediaSearch
from research.web.errors import WebError

logger = logging.getLogger(__name__)

PROVIDERS: dict[str, Callable[[], SearchProvider]] = {
    "library": LibrarySearch,
    "duckduckgo": DuckDuckGoSearch,
    "wikipedia": WikipediaSearch,
    "arxiv": ArxivSearch,
}
PACES = {
    "duckduckgo": Pace(4),
    "wikipedia": Pace(4),
    "arxiv": Pace(1, apart_s=3.0),  # as its terms of use ask
}
DEADLINE_S = 3.0
LEFT_OUT_S = 60.0
AT_ONCE = 4
"""Searches on the network side by side; waiting for one's turn is no delay of a provider."""
_TOLD = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """What the providers found, in the order in which they were named, and who was left out."""

    results: tuple[SearchResult, ...]
    down: tuple[str, ...]


class LeftOut:
    """The providers of this process that are down, each until it is asked again."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._told: dict[tuple[UUID, str], float] = {}

    def __contains__(self, name: str) -> bool:
        return self._until.get(name, 0.0) > time.monotonic()

    def add(self, name: str) -> None:
        """Leave a provider out for a while."""
        self._until[name] = time.monotonic() + LEFT_OUT_S

    def untold(self, run_id: UUID, names: Sequence[str]) -> list[str]:
        """Return which of these a run has not been told of yet, and take them as told."""
        fresh = [
            name for name in names if self._told.get((run_id, name)) != self._until.get(name, 0.0)
        ]
        if len(self._told) > _TOLD:
            self._told.clear()
        self._told.update({(run_id, name): self._until.get(name, 0.0) for name in fresh})
        return fresh

    def forget(self) -> None:
        """Ask all of them again."""
        self._until.clear()
        self._told.clear()


left_out = LeftOut()
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


async def ask(names: Sequence[str], query: str, scope: SearchScope) -> Asked:
    """Ask every provider that is not down; those of the network have one deadline in common."""
    near = [name for name in names if name in LOCAL]
    here = [asyncio.create_task(_ask(name, query, scope)) for name in near]
    try:
        far = await _ask_far([name for name in names if name not in LOCAL], query, scope)
        found = dict(zip(near, await asyncio.gather(*here), strict=True)) | far
    finally:
        for task in here:
            task.cancel()
    results = tuple(result for name in names if (result := found.get(name)) is not None)
    return Asked(results, tuple(name for name in names if name in left_out))


async def _ask_far(
    names: Sequence[str], query: str, scope: SearchScope
) -> dict[str, SearchResult | None]:
    """Return what the providers found that answered in time; the others are left out."""
    if not any(name not in left_out for name in names):
        return {}
    turn = _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(AT_ONCE))
    async with turn:
        asked = [name for name in names if name not in left_out]
        tasks = {name: asyncio.create_task(_ask(name, query, scope)) for name in asked}
        try:
            if tasks:
                await asyncio.wait(tasks.values(), timeout=DEADLINE_S)
        finally:
            late = [name for name, task in tasks.items() if task.cancel()]
            await asyncio.gather(*tasks.values(), return_exceptions=True)
    for name in late:
        logger.info("search provider %s did not answer in %s s", name, DEADLINE_S)
        left_out.add(name)
    return {name: task.result() for name, task in tasks.items() if not task.cancelled()}


async def _ask(name: str, query: str, scope: SearchScope) -> SearchResult | None:
    """Return what a provider found; None where it has no time, or (left out) does not answer."""
    try:
        if name in LOCAL:
            return await PROVIDERS[name]().search(query, scope)
        async with PACES[name].turn():
            return await PROVIDERS[name]().search(query, scope)
    except ProviderBusy:
        return None
    except (ProviderDown, WebError) as error:
        logger.info("search provider %s is down: %s", name, error)
    except Exception:
        if name in LOCAL:
            raise
        logger.exception("search provider %s broke", name)
    left_out.add(name)
    return None
