"""Wikipedia as a search provider: how articles begin, and the best ones whole, by section.

Each query is asked in its own language.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.conf import settings

from research.library.chunks import passages
from research.library.page import Draft, Page
from research.text.language import Language, language
from research.text.tokens import content
from research.tools.search.base import LIMIT, Passage, ProviderDown, SearchResult, SearchScope
from research.web import client
from research.web.errors import WebError

from .snippets import Hit, plain, snippets

RESULTS = 5
WHOLE = 2
WHOLE_S, IN_ALL_S = 1.2, 2.7
"""The best articles are read whole if that takes no longer, alone and with the search."""
WHOLE_PASSAGES = 6
WHOLE_CHARS = 300_000
EXTRACT = 1000  # characters
MAX_BYTES = 2_000_000
_VARIANTS = {"zh": {"variant": "zh-cn", "converttitles": 1}}  # articles mix both scripts
_APPENDICES = frozenset(
    ("references", "external links", "see also", "further reading", "notes", "bibliography",
     "citations", "sources", "footnotes", "参考文献", "外部链接", "外部連結", "参见", "參見",
     "注释", "註釋", "注解", "延伸阅读", "延伸閱讀", "参考资料", "參考資料", "脚注",
     "参考来源", "备注")
)  # fmt: skip


class WikipediaSearch:
    """Searches the encyclopedia, through the API of MediaWiki."""

    name = "wikipedia"

    async def search(self, query: str, scope: SearchScope, limit: int = LIMIT) -> SearchResult:
        """Return how the articles begin that fit best, and what the first ones say of the query."""
        tag = language(query)
        until = time.monotonic() + IN_ALL_S
        found = await _ask(
            tag,
            generator="search",
            gsrsearch=query[:300],
            gsrlimit=min(limit, RESULTS),
            prop="extracts|info",
            inprop="url",
            exintro=1,
            exchars=EXTRACT,
            exlimit="max",
        )
        begun = list(snippets(_hits(found), RESULTS))
        whole: list[Page | None] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(min(WHOLE_S, until - time.monotonic())):
                whole = list(
                    await asyncio.gather(*(_article(tag, one.title) for one in begun[:WHOLE]))
                )
        wanted = content(query)
        shown: list[Passage] = []
        texts: dict[str, str] = {}
        for place, one in enumerate(begun):
            page = whole[place] if place < len(whole) else None
            said = _passages(page, one, wanted) if page else []
            if page and said:
                texts[one.uri] = page.text
            shown += said or [one]
        return SearchResult(self.name, query, tuple(shown), texts=texts)


async def _ask(tag: Language, **asked: Any) -> Sequence[dict[str, Any]]:
    """Return the pages that the encyclopedia answers with."""
    given = {
        "action": "query",
        "format": "json",
        "formatversion": 2,
        "explaintext": 1,
        **_VARIANTS.get(tag, {}),
        **asked,
    }
    site = settings.WIKIPEDIA_URL.replace("{language}", tag)
    answer = await client.get(
        f"{site}/w/api.php?{urlencode(given)}", accept="application/json", max_bytes=MAX_BYTES
    )
    try:
        pages = json.loads(answer.body).get("query", {}).get("pages", [])
        return [page for page in pages if isinstance(page["title"], str)]
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError) as error:
        raise ProviderDown("it answered what is none of its answers") from error


def _hits(pages: Sequence[dict[str, Any]]) -> Iterator[Hit]:
    try:
        for page in sorted(pages, key=lambda page: int(page.get("index", 0))):
            yield str(page["canonicalurl"]), page["title"], str(page.get("extract", ""))
    except (ValueError, TypeError, KeyError) as error:
        raise ProviderDown("it answered what is none of its answers") from error


async def _article(tag: Language, title: str) -> Page | None:
    """Return an article whole, None where it cannot be had."""
    try:
        pages = await _ask(tag, titles=title, prop="extracts", exsectionformat="wiki", exlimit=1)
    except (WebError, ProviderDown):
        return None
    text = str(pages[0].get("extract", "")) if pages else ""
    return read(title, text[:WHOLE_CHARS])


def read(title: str, text: str) -> Page:
    """Return an article from its plain text, in which headings stand between signs of equality."""
    draft = Draft()
    draft.heading(1, title)
    left_out = 0
    for line in text.split("\n"):
        said = line.strip()
        level = min(len(said) - len(said.lstrip("=")), 6)
        if level > 1 and said.endswith("=="):
            name = said.strip("= ")
            if left_out and level > left_out:
                continue
            left_out = level if name.lower() in _APPENDICES else 0
            if not left_out:
                draft.heading(level, name)
        elif not left_out:
            draft.block("prose", said)
    return draft.page(title)


def _passages(page: Page, begun: Passage, wanted: frozenset[str]) -> list[Passage]:
    """Return the passages of an article that say most of what is wanted, best first."""
    found: list[Passage] = []
    for part in passages(page):
        said = page.text[part.start : part.end]
        words = content(said) | content(" ".join(part.headings))
        found.append(
            replace(
                begun,
                kind=part.kind,
                headings=tuple(plain(name, 200) for name in part.headings),
                start=part.start,
                end=part.end,
                score=begun.score * len(words & wanted) / max(len(wanted), 1),
                text=said,
            )
        )
    found.sort(key=lambda passage: (-passage.score, passage.start))
    return found[:WHOLE_PASSAGES]
