"""A file's bytes to a page, by the kind of file it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

import mistune

from research.library.docx import read_docx
from research.library.encoding import decode
from research.library.html import read_html
from research.library.page import Page
from research.library.pdf import read_pdf
from research.library.plain import read_plain
from research.library.rst import looks_like_rst, read_rst
from research.library.unreadable import Unreadable

MAX_BYTES = 50_000_000
"""No file that is larger is read, whatever a site allows."""
READING = 1
"""Raised with every change of what is read out of a file: documents are then read again."""

_HTML = frozenset((".html", ".htm", ".xhtml"))
_MARKDOWN = frozenset((".md", ".markdown"))
_RST = frozenset((".rst", ".rest"))
_TEXT = frozenset((".txt", ".text", ""))
READERS = {".pdf": read_pdf, ".docx": read_docx}
"""Of the kinds that are not text."""
SUFFIXES = _HTML | _MARKDOWN | _RST | (_TEXT - {""}) | frozenset(READERS)
"""The kinds of files a folder is searched for; a file without a suffix is read when named."""

_LONG_LINE = 200_000


def _read_markdown(text: str, name: str) -> Page:
    """Read Markdown through HTML; a text of huge lines is plain, lest the parser choke."""
    if max(map(len, text.split("\n"))) > _LONG_LINE or len(text) > 3_000_000:
        return read_plain(text, name)
    if text.startswith("---\n") and (end := text.find("\n---", 4)) != -1:
        text = text[end + 4 :]
    render = mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "def_list"])
    return read_html(str(render(text)), name)


def _looks_like_html(text: str) -> bool:
    head = text[:1000].lstrip().lower()
    return head.startswith(("<!doctype html", "<html", "<?xml")) and "<html" in head


def parse(name: str, data: bytes) -> Page:
    """Return a file as a page; `name` is its name or path, its suffix tells the kind.

    Raises Unreadable for what is empty, binary, too large or of no kind that can be read.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in SUFFIXES and suffix not in _TEXT:
        raise Unreadable("unsupported", suffix)
    if len(data) > MAX_BYTES:
        raise Unreadable("too_large", str(MAX_BYTES // 1_000_000))
    if not data:
        raise Unreadable("empty")
    reader = READERS.get(suffix)
    page = reader(data, name) if reader else _read_text(name, suffix, decode(data))
    if not page.blocks:
        raise Unreadable("no_text")
    return page


def _read_text(name: str, suffix: str, text: str) -> Page:
    if suffix in _HTML or (suffix in _TEXT and _looks_like_html(text)):
        return read_html(text, name)
    if suffix in _MARKDOWN:
        return _read_markdown(text, name)
    if suffix in _RST or looks_like_rst(text):
        return read_rst(text, name)
    return read_plain(text, name)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A page, or by a code why there is none."""

    page: Page | None
    code: str = ""
    detail: str = ""


def parse_all(files: list[tuple[str, bytes]]) -> list[Parsed]:
    """Return what each of these files is read as."""
    found = []
    for name, data in files:
        try:
            found.append(Parsed(parse(name, data)))
        except Unreadable as error:
            found.append(Parsed(None, error.code, error.detail))
    return found
