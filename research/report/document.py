"""Document: what a report is, before it becomes a file of one format or another.

A plain value that travels to a child process; every word of ours in it is already in the report's
language, every text of others is cleaned of what no format can hold.
"""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

LINKED = 2000
"""How long an address may be to become a link."""
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Words(Struct, frozen=True):
    """The words of ours that a file needs, in its language."""

    references: str
    missing: str  # heading of what the report does not answer
    unfinished: str
    empty: str  # what stands where no report is


class Reference(Struct, frozen=True):
    """What a number in the report leads to."""

    number: int
    title: str
    uri: str
    quote: str = ""
    verdict: Literal["", "supported", "partly", "not_found"] = ""
    told: str = ""  # the verdict in words
    dates: str = ""  # when it was published and read, in words

    @property
    def href(self) -> str:
        """Return the address where it may be a link, else nothing."""
        return self.uri if is_link(self.uri) else ""


class Section(Struct, frozen=True):
    """A part of the report; `text` is Markdown in which `[n]` is one of `numbers`."""

    title: str
    text: str
    numbers: list[int] = []
    finished: bool = True
    note: str = ""  # what has to be said about it


class Gap(Struct, frozen=True):
    """A question that was asked and not answered."""

    title: str
    message: str


class Document(Struct, frozen=True):
    """A report, with all that is told beside it."""

    run_id: str
    language: str  # as HTML and PDF name it: en, zh
    title: str
    question: str  # empty where the title is all of it
    facts: list[str]  # status, date, counts
    date: str  # ISO, of the end or else of the beginning
    notice: str  # why this is not a whole report; empty where it is
    sections: list[Section]
    gaps: list[Gap]
    references: list[Reference]
    words: Words


def printable(text: str) -> str:
    """Return a text without what XML, PDF or a terminal cannot hold."""
    return _UNPRINTABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str, longest: int = 0) -> str:
    """Return a text in one line, cut where it is longer than asked."""
    line = " ".join(printable(text).split())
    return line if not longest or len(line) <= longest else line[: longest - 1].rstrip() + "…"


def is_link(url: str) -> bool:
    """Tell whether an address leads to the web or to a mailbox, and nowhere else."""
    if len(url) > LINKED or any(sign <= " " or sign in '"<>\\^`{|}' for sign in url):
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme == "mailto":
        return bool(parts.path)
    return parts.scheme in ("http", "https") and bool(host)
