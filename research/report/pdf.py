"""PDF, by Typst: fonts of our own, nothing from outside, text that can be searched and copied."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path

import manimgx_fonts
import manimgx_fonts_cjk
import typst

from . import tree
from .document import Document, Reference, Section, one_line
from .typeset import blocks, literal, words

TAGGED = 400_000
"""Characters of source above which a file has no tags for screen readers: they double its cost."""
HERE = Path(__file__).parent
LOOK = (HERE / "look.typ").read_text()


def render(document: Document) -> bytes:
    """Return the file. Takes time and memory: meant for a child process."""
    text = source(document)
    # All that the source could read is this directory: nothing in it is a secret.
    compiler = typst.Compiler(
        text.encode(), root=HERE, font_paths=_fonts(), package_path=HERE, package_cache_path=HERE
    )
    made = compiler.compile(
        format="pdf",
        timestamp=datetime.fromisoformat(document.date),
        pdf_tags=len(text) < TAGGED,
    )
    if not isinstance(made, bytes):
        raise TypeError("Typst returned pages, not a file.")
    return made


@cache
def _fonts() -> typst.Fonts:
    packages = (manimgx_fonts, manimgx_fonts_cjk)
    folders = [str(Path(str(package.__file__)).parent) for package in packages]
    return typst.Fonts(include_system_fonts=False, font_paths=[*folders])


def source(document: Document) -> str:
    """Return the document in Typst's language."""
    told = document.words
    facts = "".join(f"{literal(fact)}, " for fact in document.facts)
    parts = [f"masthead({words(document.title or '…')}, ({facts}));\n"]
    if document.question:
        lines = (f"{words(line)};" for line in document.question.split("\n"))
        parts.append(f"asked({{{'linebreak();'.join(lines)}}});\n")
    if document.notice:
        parts.append(f"notice({words(document.notice)});\n")
    if not document.sections:
        parts.append(f"note({words(told.empty)});\n")
    for section in document.sections:
        parts += _section(section, told.unfinished)
    if document.gaps:
        items = (f"gap({words(gap.title)}, {words(gap.message)})" for gap in document.gaps)
        parts.append(f"heading({words(told.missing)});\nlist(tight: false, {', '.join(items)});\n")
    if document.references:
        parts.append(f"heading({words(told.references)});\n")
        parts += map(_reference, document.references)
    day = datetime.fromisoformat(document.date)
    return (
        f"{LOOK}\n#report(title: {literal(document.title)}, running: "
        f"{literal(one_line(document.title, 90))}, lang: {literal(document.language[:2])}, "
        f"date: datetime(year: {day.year}, month: {day.month}, day: {day.day}), {{\n"
        f"{''.join(parts)}}})\n"
    )


def _section(section: Section, unfinished: str) -> list[str]:
    parts = [f"heading({words(section.title)});\n"] if section.title else []
    parts.append(blocks(tree.parse(section.text), frozenset(section.numbers)))
    notes = [section.note] if section.finished else [unfinished, section.note]
    parts += [f"par(note({words(note)}));\n" for note in notes if note]
    return parts


def _reference(reference: Reference) -> str:
    where = "none"
    if reference.href:
        where = f"away({literal(reference.href)}, {literal(reference.href)})"
    elif reference.uri:
        where = words(reference.uri)
    quote = f"“{reference.quote}”" if reference.quote else ""
    texts = (
        literal(str(reference.number)),
        words(reference.title),
        where,
        words(quote),
        literal(reference.verdict),
        words(reference.told),
        words(reference.dates),
    )
    return f"reference({', '.join(texts)});\n"
