"""The text of a page: meant for the sandbox, since anybody may have written what is read here."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from research.library.chunks import Passage, passages
from research.library.encoding import decode
from research.library.html import read_html
from research.library.page import Draft, Page
from research.library.parse import parse
from research.library.plain import read_plain
from research.library.unreadable import Unreadable
from research.text.clean import clean_text

from .article import Article, read_article
from .kinds import Kind, suffix_of

MAX_CHARS = 2_000_000
"""Of the text of one page that is kept."""
_LONG = 1_500_000
"""From here on a page is read as it is: looking for the article would take too long."""
_LITTLE = 250
_LISTED = 0.5
_PARAGRAPH = re.compile(r"\n[ \t]{0,40}\n")


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a page says. `published` is a date such as 2026-03-01, where one is known."""

    title: str
    text: str
    passages: tuple[Passage, ...]
    published: str = ""
    site: str = ""
    whole: bool = True


def extract(body: bytes, kind: Kind, charset: str | None, url: str) -> Extracted:
    """Return the text of a body. Raises `Unreadable`."""
    name = url.rsplit("?", 1)[0]
    if kind in ("pdf", "docx"):
        return _extracted(parse(f"{name.rsplit('/', 1)[-1][:100]}.{kind}", body))
    text = decode(body, charset)
    if kind == "html":
        return _html(text, url)
    if kind == "json":
        return _extracted(_raw(_pretty(text), name))
    if suffix_of(url) in (".md", ".rst"):
        page = parse(f"page{suffix_of(url)}", text.encode())
    else:
        page = read_plain(text, name)
    # A reader of prose leaves out listings; what is mostly one is meant to be read as it is.
    mostly = len(page.text) > _LISTED * len(text.strip())
    return _extracted(page if page.blocks and mostly else _raw(text, name))


def warm() -> None:
    """Have done once what the libraries put off until they are used."""
    page = b"<html><head><title>T</title></head><body><article><h1>T</h1><p>%b</p></article></body>"
    extract(page % (b"Some words that are a sentence. " * 20), "html", None, "http://example.com/")


def _html(text: str, url: str) -> Extracted:
    if len(text) > _LONG:
        return _extracted(read_html(text, url))
    article = read_article(text, url)
    page = article.page
    if len(page.text) < _LITTLE:  # no article: a form, a list, a notice; or too odd a page
        whole = read_html(text, url)
        if len(whole.text) > 2 * len(page.text):
            page = whole
    return _extracted(page, article)


def _pretty(text: str) -> str:
    """Return JSON in lines; what is none, as it is."""
    try:
        value = json.loads(text)
        return json.dumps(value, indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _raw(text: str, name: str) -> Page:
    """Return a text as it is, a block for each paragraph."""
    draft = Draft()
    for paragraph in _PARAGRAPH.split(text):
        draft.block("prose", paragraph)
    return draft.page(name)


def _extracted(page: Page, article: Article | None = None) -> Extracted:
    found = tuple(passages(page))
    if not found:
        raise Unreadable("no_text")
    text = page.text
    if len(text) > MAX_CHARS:
        found = tuple(passage for passage in found if passage.end <= MAX_CHARS)
        text = text[: found[-1].end if found else MAX_CHARS]
    more: dict[str, Any] = {}
    if article is not None:
        more = {"published": article.published, "site": clean_text(article.site)[:200]}
    return Extracted(page.title, text, found, whole=len(text) == len(page.text), **more)
