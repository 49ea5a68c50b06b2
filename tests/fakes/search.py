"""Search providers on loopback, each in its own wire format, as part of a fake web."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from tests.fakes.web import Asked, FakeWeb, answer

Hit = tuple[str, str, str]
"""URL, title and text."""

DUCKDUCKGO, WIKIPEDIA, ARXIV = "/html/", "/w/api.php", "/api/query"


def duckduckgo(hits: Sequence[Hit]) -> str:
    """Return a page of results as DuckDuckGo writes it, an advertisement first."""
    advert = ("https://duckduckgo.com/y.js?ad_domain=x", "Buy it", "An advertisement.")
    found = "".join(
        f'<div class="result results_links results_links_deep web-result">'
        f'<div class="links_main links_deep result__body"><h2 class="result__title">'
        f'<a rel="nofollow" class="result__a" href="{html.escape(url)}">{title}</a></h2>'
        f'<a class="result__snippet" href="{html.escape(url)}">{text}</a></div></div>'
        for url, title, text in [advert, *hits]
    )
    return f'<html><body><div id="links" class="results">{found}</div></body></html>'


def wikipedia(hits: Sequence[Hit]) -> str:
    """Return an answer of MediaWiki, its pages in no order, as it gives them."""
    pages = [
        {
            "pageid": 100 + place, "ns": 0, "title": title, "index": place, "extract": text,
            "canonicalurl": url, "fullurl": url,
        }
        for place, (url, title, text) in enumerate(hits, 1)
    ]  # fmt: skip
    answer = {"batchcomplete": True, "query": {"pages": pages[::-1]}} if pages else {}
    return json.dumps(answer)


def encyclopedia(web: FakeWeb, hits: Sequence[Hit], articles: Mapping[str, str]) -> None:
    """Let a fake web be Wikipedia: searches bring these, and some titles have a whole text."""

    def respond(asked: Asked) -> list[bytes]:
        given = parse_qs(urlsplit(asked.path).query)
        title = given.get("titles", [""])[0]
        if not title:
            body = wikipedia(hits)
        elif title in articles:
            page: dict[str, Any] = {"pageid": 7, "ns": 0, "title": title}
            body = json.dumps({"query": {"pages": [{**page, "extract": articles[title]}]}})
        else:
            body = json.dumps({"query": {"pages": [{"ns": 0, "title": title, "missing": True}]}})
        return [answer(body.encode(), Content_Type="application/json; charset=utf-8")]

    web.raw(WIKIPEDIA, respond)


def arxiv(hits: Sequence[Hit]) -> str:
    """Return a feed of arXiv."""
    entries = "".join(
        f"<entry><id>{html.escape(url)}</id><published>2024-05-01T00:00:00Z</published>"
        f"<title>{html.escape(title)}</title><summary>{html.escape(text)}</summary></entry>"
        for url, title, text in hits
    )
    return f'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">{entries}</feed>'


def serve(web: FakeWeb, name: str, hits: Sequence[Hit]) -> None:
    """Let a fake web answer the searches of a provider."""
    if name == "wikipedia":
        encyclopedia(web, hits, {})
    else:
        path, write = {"duckduckgo": (DUCKDUCKGO, duckduckgo), "arxiv": (ARXIV, arxiv)}[name]
        web.page(path, write(hits))


def environment(web: FakeWeb) -> dict[str, str]:
    """Return the settings that lead the providers to a fake web."""
    return {
        "SEARCH_PROVIDERS": "library,duckduckgo,wikipedia,arxiv",
        "DUCKDUCKGO_URL": web.url(DUCKDUCKGO),
        "WIKIPEDIA_URL": web.url(""),
        "ARXIV_URL": web.url(""),
        "FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
        "FETCH_PORTS": f"80,443,{web.port}",
    }


def article(web: FakeWeb, title: str, *paragraphs: str) -> str:
    """Serve a page, and return its URL."""
    body = "".join(f"<p>{html.escape(text)}</p>" for text in paragraphs)
    page = (
        f"<html><head><title>{html.escape(title)}</title></head><body><nav>Home About</nav>"
        f"<article><h1>{html.escape(title)}</h1>{body}</article></body></html>"
    )
    return web.page(f"/{quote(title.replace(' ', '-'))}", page)
