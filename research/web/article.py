"""The article on a page, as trafilatura finds it: headings, paragraphs, lists and tables."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass

import htmldate
import trafilatura
from lxml import etree, html
from trafilatura.settings import Document

from research.library.page import Draft, Page, bare_heading
from research.text.clean import clean_text

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATED = (
    "//meta | //script[@type='application/ld+json']"
    " | //*[@itemprop='datePublished'] | //time[@pubdate]"
)
_INLINE = frozenset(("hi", "ref", "del", "span", "code", "graphic", "lb"))
_LEVELS = {f"h{level}": level for level in range(1, 7)}


@dataclass(frozen=True, slots=True)
class Article:
    """An article, when it was published, and where."""

    page: Page
    published: str = ""
    site: str = ""


def read_article(text: str, url: str) -> Article:
    """Return the article of an HTML page; an empty one where there is none to be found."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=False)
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
        published = _published(root, url)
        found = trafilatura.bare_extraction(
            root,
            url=url,
            include_comments=False,
            with_metadata=True,
            fast=True,
        )
    except (etree.LxmlError, ValueError, RecursionError, AssertionError, TypeError, AttributeError):
        found = None  # who builds pages like this one has to do with the plain reader
    if not isinstance(found, Document):
        return Article(Draft().page(url))
    draft = Draft()
    title = bare_heading(clean_text(found.title or ""))
    if found.body is not None:
        if title and not _opens_with_title(found.body):
            draft.heading(1, title)
        _walk(found.body, draft)
    return Article(draft.page(url), published, found.sitename or "")


def _published(root: etree._Element, url: str) -> str:
    """Return the date that a page gives itself; a date somewhere in its text is none."""
    said = html.Element("html")
    said.append(html.Element("head"))
    for part in root.xpath(_DATED)[:200]:
        said[0].append(copy.deepcopy(part))
    found = htmldate.find_date(said, url=url, original_date=True, extensive_search=False)
    return found if found and _DATE.fullmatch(found) else ""


def _opens_with_title(body: etree._Element) -> bool:
    first = next(body.iter("head"), None)
    return first is not None and first.get("rend") == "h1"


def _walk(body: etree._Element, draft: Draft) -> None:
    """Give the parts of an article to the draft, in order."""
    for part in body:
        match part.tag:
            case "head":
                draft.heading(_LEVELS.get(part.get("rend") or "", 2), _text(part))
            case "list":
                for item in part.iter("item"):
                    draft.block("item", _text(item, without="list"))
            case "table":
                _table(part, draft)
            case "quote" if len(part) and any(child.tag not in _INLINE for child in part):
                _walk(part, draft)
            case "code":
                pass  # a listing is nothing to quote in prose
            case _:
                if isinstance(part.tag, str):
                    draft.block("prose", _text(part))
        if part.tail and part.tail.strip():
            draft.block("prose", part.tail)


def _table(table: etree._Element, draft: Draft) -> None:
    rows = [[_text(cell) for cell in row.iter("cell")] for row in table.iter("row")]
    first = next(table.iter("row"), None)
    header: list[str] = []
    if first is not None and all(cell.get("role") == "head" for cell in first.iter("cell")):
        header, rows = rows[0], rows[1:]
    draft.rows(header, rows)


def _text(element: etree._Element, without: str = "") -> str:
    """Return the text inside an element; breaks are line ends."""
    parts: list[str] = []
    events = etree.iterwalk(element, events=("start", "end"))
    for event, child in events:
        if event == "start":
            if without and child is not element and child.tag == without:
                events.skip_subtree()
            else:
                if child.tag in ("lb", "p"):
                    parts.append("\n")
                parts.append(child.text or "")
        elif child is not element:
            parts.append(child.tail or "")
    return "".join(parts)
