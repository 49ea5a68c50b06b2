"""Kinds of content: what is read of the web, how large it may be, and how it is told apart."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import unquote, urlsplit

Kind = Literal["html", "text", "json", "pdf", "docx"]

ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,*/*;q=0.5"
PAGE_BYTES = 5_000_000
FILE_BYTES = 20_000_000
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_TYPES: dict[str, Kind] = {
    "application/json": "json",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    "application/xhtml+xml": "html",
    "application/xml": "html",
    "text/html": "html",
    "text/xml": "html",
    _DOCX: "docx",
}
_UNTOLD = frozenset(("", "application/octet-stream", "binary/octet-stream", "application/download"))
_SUFFIXES: dict[str, Kind] = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".json": "json",
    ".htm": "html",
    ".html": "html",
    ".txt": "text",
    ".md": "text",
    ".rst": "text",
    ".csv": "text",
}
_FILES = frozenset(("pdf", "docx"))
MEDIA_TYPES: dict[Kind, str] = {
    "html": "text/html",
    "text": "text/plain",
    "json": "application/json",
    "pdf": "application/pdf",
    "docx": _DOCX,
}


def most_bytes(content_type: str) -> int:
    """Return how large content of a type may be; 0 is for what cannot be read at all."""
    if content_type in _UNTOLD:
        return FILE_BYTES
    kind = _of_type(content_type)
    if kind is None:
        return 0
    return FILE_BYTES if kind in _FILES else PAGE_BYTES


def kind_of(content_type: str, url: str, body: bytes) -> Kind:
    """Return the kind of a body, by what it begins with, what the site says, and its name."""
    if body[:1024].lstrip().startswith(b"%PDF-"):
        return "pdf"
    said = _of_type(content_type) if content_type not in _UNTOLD else None
    named = _SUFFIXES.get(suffix_of(url))
    if said is None:
        said = named
    if said in _FILES and not body.startswith(b"PK"):
        said = None  # an error told as a page, under the type of the file that is not there
    head = body[:2000].lstrip().lower()
    if said in (None, "text") and (head.startswith((b"<!doctype html", b"<html"))):
        return "html"
    return said or "text"


def suffix_of(url: str) -> str:
    """Return how the name in a URL ends, in small letters."""
    return PurePosixPath(unquote(urlsplit(url).path)).suffix.lower()


def _of_type(content_type: str) -> Kind | None:
    if content_type in _TYPES:
        return _TYPES[content_type]
    if content_type.endswith("+json"):
        return "json"
    if content_type.endswith("+xml") and not content_type.startswith("image/"):
        return "html"
    return "text" if content_type.startswith("text/") else None
