"""Snippets: what providers of the web show of a page, cleaned of what is none."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from research.tools.search.base import Passage
from research.web.errors import WebError
from research.web.target import target_of
from streaming.text import clean

TITLE_LENGTH = 300
SNIPPET_LENGTH = 1200
_TAG = re.compile(r"<[a-zA-Z/!][^<>]{0,500}>")
_TRACKING = re.compile(r"(?:^|&)(?:utm_\w{1,30}|gclid|fbclid|msclkid)=[^&]{0,500}")

Hit = tuple[str, str, str]
"""URL, title and text, as a provider gives them."""


def snippets(hits: Iterable[Hit], limit: int) -> Iterator[Passage]:
    """Yield a passage for each page that may be fetched, each page once, best first."""
    seen: set[str] = set()
    for url, title, text in hits:
        try:
            address = target_of(url.strip()).url
        except WebError:  # no page at all, or none that is fetched from
            continue
        if (key := page_key(address)) in seen:
            continue
        seen.add(key)
        said = plain(text, SNIPPET_LENGTH)
        name = plain(title, TITLE_LENGTH) or urlsplit(address).netloc
        yield Passage(
            uri=address,
            title=name,
            headings=(name,),
            kind="snippet",
            start=0,
            end=len(said),
            score=1.0 / len(seen),
            text=said,
        )
        if len(seen) == limit:
            return


def plain(text: str, length: int) -> str:
    """Return text without markup, on one line, cut."""
    text = html.unescape(_TAG.sub("", text[: 4 * length]))
    return " ".join(clean(text).split())[:length].strip()


def page_key(url: str) -> str:
    """Return what two addresses of one page have in common."""
    parts = urlsplit(url)
    host = parts.netloc.lower().removeprefix("www.")
    query = _TRACKING.sub("", parts.query).lstrip("&")
    return f"{host}{parts.path.rstrip('/')}?{query}"
