"""HTML: one file that holds all it needs, loads nothing and runs nothing."""

from __future__ import annotations

import base64
from hashlib import sha256
from html import escape
from pathlib import Path

from research.rendering import host_of, markdown

from .document import Document, Reference, Section

STYLE = (Path(__file__).parent / "look.css").read_text()
_HASH = base64.b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"


def render(document: Document) -> bytes:
    """Return the file."""
    words, body = document.words, []
    if document.question:
        body.append(f'<p class="question">{_lines(document.question)}</p>')
    if document.notice:
        body.append(f'<p class="notice">{escape(document.notice)}</p>')
    if not document.sections:
        body.append(f'<p class="empty">{escape(words.empty)}</p>')
    for section in document.sections:
        body.append(_section(section, words.unfinished))
    if document.gaps:
        items = "".join(
            f"<li><strong>{escape(gap.title)}</strong> {escape(gap.message)}</li>"
            for gap in document.gaps
        )
        body.append(f"<section><h2>{escape(words.missing)}</h2><ul>{items}</ul></section>")
    if document.references:
        items = "".join(map(_reference, document.references))
        body.append(
            f'<section class="references"><h2>{escape(words.references)}</h2><ol>{items}</ol>'
            "</section>"
        )
    facts = "".join(f"<span>{escape(fact)}</span>" for fact in document.facts)
    return f"""<!doctype html>
<html lang="{escape(document.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(document.title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<header><h1>{escape(document.title) or "…"}</h1><p class="facts">{facts}</p></header>
{"".join(body)}
</main>
</body>
</html>
""".encode()


def _section(section: Section, unfinished: str) -> str:
    known = set(section.numbers)

    def cite(number: int) -> str:
        if number not in known:
            return ""
        return f'<sup><a href="#ref-{number}">[{number}]</a></sup>'

    notes = [section.note] if section.finished else [unfinished, section.note]
    told = "".join(f'<p class="note">{escape(note)}</p>' for note in notes if note)
    prose = markdown(section.text, cite)
    return f"<section><h2>{escape(section.title)}</h2>{prose}{told}</section>"


def _reference(reference: Reference) -> str:
    title = escape(reference.title)
    said = [f'<span class="title">{title}</span>']
    if reference.href:
        href = escape(reference.href)
        host = escape(host_of(reference.href))
        said.append(
            f'<a href="{href}" rel="noopener noreferrer nofollow" title="{host}">{href}</a>'
        )
    elif reference.uri:
        said.append(f"<span>{escape(reference.uri)}</span>")
    if reference.quote:
        said.append(f"<q>{escape(reference.quote)}</q>")
    foot = []
    if reference.told:
        kind = reference.verdict or "none"
        foot.append(f'<span class="verdict verdict-{kind}">{escape(reference.told)}</span>')
    if reference.dates:
        foot.append(f"<span>{escape(reference.dates)}</span>")
    said.append(f'<span class="foot">{" ".join(foot)}</span>')
    return f'<li id="ref-{reference.number}" value="{reference.number}">{"".join(said)}</li>'


def _lines(text: str) -> str:
    return "<br>".join(escape(line) for line in text.split("\n"))
