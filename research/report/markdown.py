"""Markdown: the sections as they were written, citations as footnotes.

What strangers wrote beside it is escaped; inside the report, raw HTML and pictures are, so that
no reader of Markdown loads anything when the file is opened.
"""

from __future__ import annotations

import re

from .code import code_of, is_in
from .document import Document, Reference

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!&~^$])")
_ORDERED = re.compile(r"^(\d{1,9})([.)])|^([-+=])")
_PARTS = re.compile(
    r"(?P<escaped>\\[^\n])"
    r"|(?P<image>!(?=\[))"
    r"|(?P<address><(?:https?://|mailto:)[^\s<>`|]*>)"
    r"|(?P<tag><(?=[A-Za-z/!?]))"
    r"|\[(?P<cite>\d{1,4})\](?!\(|:|\[(?!\d{1,4}\]))"
    r"|(?P<heading>^#{1,2}(?=[ \t]))",
    re.MULTILINE,
)


def render(document: Document) -> bytes:
    """Return the file."""
    words = document.words
    parts = [f"# {escape(document.title) or '…'}", f"*{escape(' · '.join(document.facts))}*"]
    if document.question:
        parts.append(_quoted(document.question))
    if document.notice:
        parts.append(f"> **{escape(document.notice)}**")
    if not document.sections:
        parts.append(escape(words.empty))
    for section in document.sections:
        parts += [
            f"## {escape(section.title)}",
            harmless(section.text, frozenset(section.numbers)),
        ]
        if not section.finished:
            parts.append(f"*{escape(words.unfinished)}*")
        if section.note:
            parts.append(f"*{escape(section.note)}*")
    if document.gaps:
        gaps = [f"- {escape(gap.title)} — {escape(gap.message)}" for gap in document.gaps]
        parts += [f"## {escape(words.missing)}", "\n".join(gaps)]
    if document.references:
        parts.append(f"## {escape(words.references)}")
        parts += [_footnote(reference) for reference in document.references]
    return ("\n\n".join(part for part in parts if part) + "\n").encode()


def escape(text: str) -> str:
    """Return a text in one line that Markdown shows as it is."""
    line = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return _ORDERED.sub(lambda found: f"{found[1] or ''}\\{found[2] or found[3]}", line)


def harmless(text: str, known: frozenset[int] = frozenset()) -> str:
    """Return Markdown with its pictures and raw HTML escaped, and what is cited as footnotes."""
    text, code = code_of(text)

    def change(found: re.Match[str]) -> str:
        if is_in(code, found.start()):
            return found[0]
        match found.lastgroup:
            case "image" | "tag":
                return "\\" + found[0]
            case "cite" if int(found["cite"]) in known:
                return f"[^{int(found['cite'])}]"
            case "heading":
                return "###"
        return found[0]

    return _PARTS.sub(change, text)


def _quoted(text: str) -> str:
    return "\n".join(f"> {escape(line)}" for line in text.split("\n"))


def _footnote(reference: Reference) -> str:
    where = f"<{reference.href}>" if reference.href else escape(reference.uri)
    said = [
        _sentence(reference.title),
        where,
        f"“{escape(reference.quote)}”" if reference.quote else "",
        f"— {_sentence(reference.told)}" if reference.told else "",
        _sentence(reference.dates),
    ]
    return f"[^{reference.number}]: {' '.join(part for part in said if part)}"


def _sentence(text: str) -> str:
    return escape(text if not text or text[-1] in ".。?？!！…" else f"{text}.")
