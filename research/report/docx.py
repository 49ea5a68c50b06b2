"""DOCX: real headings, lists, tables and links, in fonts that also show Chinese."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO

from . import tree
from .document import Document, Reference, Section
from .docx_parts import Look, Parts
from .docx_text import Writer


def render(document: Document) -> bytes:
    """Return the file. Takes time: meant for a child process."""
    parts = Parts(document.language[:2])
    parts.about(document.title, datetime.fromisoformat(document.date))
    writer, told = Writer(parts), document.words
    writer.line("Title", document.title or "…")
    writer.line("Subtitle", " · ".join(document.facts))
    if document.question:
        writer.line("Quote", document.question)
    if document.notice:
        writer.line("Notice", document.notice)
    if not document.sections:
        writer.line("Note", told.empty)
    for section in document.sections:
        _section(writer, section, told.unfinished)
    if document.gaps:
        writer.line("Heading 1", told.missing)
        list_id = parts.new_list(None)
        for gap in document.gaps:
            paragraph = parts.paragraph("List Paragraph", item=(list_id, 0))
            parts.run(paragraph, gap.title, Look(bold=True))
            parts.run(paragraph, f"\n{gap.message}", Look(soft=True))
    if document.references:
        writer.line("Heading 1", told.references)
        for reference in document.references:
            _reference(writer, reference)
    file = BytesIO()
    parts.docx.save(file)
    return file.getvalue()


def _section(writer: Writer, section: Section, unfinished: str) -> None:
    if section.title:
        writer.line("Heading 1", section.title)
    writer.known = frozenset(section.numbers)
    writer.blocks(tree.parse(section.text))
    for note in (section.note,) if section.finished else (unfinished, section.note):
        if note:
            writer.line("Note", note)


def _reference(writer: Writer, reference: Reference) -> None:
    parts = writer.parts
    paragraph = parts.paragraph("Reference")
    parts.bookmark(paragraph, f"ref_{reference.number}", f"[{reference.number}]")
    parts.run(paragraph, "\t")
    parts.run(paragraph, reference.title, Look(bold=True))
    if reference.href:
        parts.run(paragraph, "\n")
        parts.link(paragraph, reference.href, reference.href)
    elif reference.uri:
        parts.run(paragraph, f"\n{reference.uri}")
    if reference.quote:
        parts.run(paragraph, f"\n“{reference.quote}”")
    foot = " · ".join(part for part in (reference.told, reference.dates) if part)
    if foot:
        parts.run(paragraph, f"\n{foot}", Look(soft=True, small=True))
