"""HTML, broken or not: the text a reader sees, without navigation, listings and scripts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree, html

from research.library.furniture import classes, in_admonition, is_furniture
from research.library.html_table import is_data_table, table_rows, text_of
from research.library.page import TERM_LEVEL, BlockKind, Draft, Page, bare_heading
from research.library.plain import read_plain

_BLOCKS = frozenset(
    [
        "p",
        "div",
        "section",
        "article",
        "main",
        "body",
        "li",
        "dd",
        "dt",
        "blockquote",
        "td",
        "th",
        "tr",
        "table",
        "tbody",
        "thead",
        "tfoot",
        "ul",
        "ol",
        "dl",
        "figure",
        "figcaption",
        "caption",
        "details",
        "summary",
        "address",
        "center",
        "hr",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "fieldset",
        "legend",
    ]
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SIGNATURES = re.compile(r"(?:\A|\s)(?:sig|py|function|method|class|attribute)(?:\s|\Z)")
_TAG = re.compile(r"<[^<>]{0,2000}>")
_DOCTYPE = re.compile(r"\A\s{0,64}<\?xml[^>]{0,200}\?>")


@dataclass(slots=True)
class _Walk:
    draft: Draft
    words: list[str] = field(default_factory=list)
    term: str = ""
    terms: list[str] = field(default_factory=list)
    items: int = 0
    lists: int = 0
    captioned: list[etree._Element] = field(default_factory=list)

    def say(self, text: str | None) -> None:
        if text:
            self.words.append(text)

    def flush(self, kind: BlockKind | None = None) -> None:
        said = "".join(self.words).strip()
        self.words.clear()
        if not said:
            return
        if self.term:
            said, self.term = f"{self.term}: {said}", ""
        self.draft.block(kind or ("item" if self.items else "prose"), said)

    def open(self, element: etree._Element) -> None:
        tag = str(element.tag)
        if tag not in _BLOCKS:
            if tag == "br":
                self.say("\n")
            return
        self.flush()
        if tag == "li":
            self.items += 1
        elif tag == "dl":
            self.lists += 1
        elif tag == "dd" and self.terms:
            term = bare_heading(", ".join(self.terms)).rstrip(":： ")
            self.terms.clear()
            owner = element.getparent()
            signature = owner is not None and _SIGNATURES.search(owner.get("class") or "")
            self.draft.heading(TERM_LEVEL + self.lists, term.split("(")[0], shown=False)
            self.term = "" if signature or len(term) > 120 else term

    def close(self, element: etree._Element) -> None:
        tag = str(element.tag)
        if tag in _HEADINGS:
            text = "".join(self.words).strip()
            self.words.clear()
            self.term = ""
            if not in_admonition(element):
                self.draft.heading(_HEADINGS[tag], text)
        elif tag == "th" and in_admonition(element):
            self.words.clear()
        elif tag in ("caption", "p") and (tag == "caption" or "title" in classes(element)):
            self._caption(element)
        elif tag == "dt":
            text = "".join(self.words).strip()
            self.words.clear()
            if text:
                self.terms.append(text)
        elif tag in _BLOCKS:
            self.flush()
            if tag == "li":
                self.items = max(0, self.items - 1)
            elif tag == "dd":
                self.term = ""
                self.draft.close(TERM_LEVEL + self.lists)
            elif tag == "dl":
                self.lists = max(0, self.lists - 1)
                self.terms.clear()
            if self.captioned and self.captioned[-1] is element:
                self.captioned.pop()
                self.draft.close(TERM_LEVEL + self.lists + 1)

    def _caption(self, element: etree._Element) -> None:
        """Let the title of a table or an example head what its element holds."""
        text = "".join(self.words).strip()
        self.words.clear()
        parent = element.getparent()
        if text and parent is not None and not in_admonition(element):
            self.draft.heading(TERM_LEVEL + self.lists + 1, text, shown=False)
            self.captioned.append(parent)


def _walk(root: etree._Element, draft: Draft) -> None:
    """Visit the tree without recursion: pages may be nested thousands deep."""
    walk = _Walk(draft)
    events = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    skipped: etree._Element | None = None
    for event, element in events:
        if event in ("comment", "pi"):
            if skipped is None:
                walk.say(element.tail)
        elif event == "start":
            if is_furniture(element):
                skipped = element
                events.skip_subtree()
                if str(element.tag) in ("pre", "textarea"):
                    walk.flush()
            elif element.tag == "table" and is_data_table(element):
                walk.flush()
                draft.rows(*table_rows(element))
                skipped = element
                events.skip_subtree()
            else:
                walk.open(element)
                walk.say(element.text)
        else:
            if element is skipped:
                skipped = None
            else:
                walk.close(element)
            if element is not root:
                walk.say(element.tail)
    walk.flush()


def read_html(text: str, name: str) -> Page:
    """Return an HTML document as a page."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, remove_blank_text=False)
    source = _DOCTYPE.sub("", text).encode("utf-8")
    try:
        root = html.document_fromstring(source, parser=parser)
    except (etree.ParserError, ValueError):
        root = html.document_fromstring("<p></p>")
    if any("depth" in error.message for error in parser.error_log):
        # The parser gives up on pages nested thousands deep; their words can still be read.
        return read_plain(_TAG.sub("\n", text), name)
    title = next((text_of(found) for found in root.iter("title")), "")
    body = root.find("body")
    draft = Draft()
    _walk(body if body is not None else root, draft)
    page = draft.page(name)
    clean = bare_heading(title)
    return page if draft.title or not clean else _retitle(draft, clean, name)


def _retitle(draft: Draft, title: str, name: str) -> Page:
    draft.title = title
    return draft.page(name)
