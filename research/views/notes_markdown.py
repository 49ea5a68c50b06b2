"""Notes as one file of Markdown: by research, each with what it cites.

No reader of Markdown loads anything because of what stands in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from research.forms import NoteForm
from research.models import Note, Source
from research.report.document import is_link
from research.report.markdown import escape, harmless
from research.text.markers import find_markers

MOST = 20_000_000  # characters of one file
FIELDS = ("note_id", "title", "content", "note_type", "member", "tags", "created_at", "run")


def as_markdown(notes: QuerySet[Note]) -> str:
    """Return the notes; what does not fit into one file is said at its end."""
    parts: list[str] = []
    size = 0
    for part in _parts(notes):
        if size + len(part) > MOST:
            parts.append(_("*There are more notes than one file holds. Choose fewer.*"))
            break
        parts.append(part)
        size += len(part)
    return "\n\n".join(["# " + _("Notes"), *parts]) + "\n"


def _parts(notes: QuerySet[Note]) -> Iterator[str]:
    rows = notes.select_related("run").only(*FIELDS, "run__topic")
    by_run = rows.order_by("-run__created_at", "run", "note_id").iterator(chunk_size=200)
    for run_id, group in groupby(by_run, key=lambda note: note.run_id):
        cited: set[int] = set()
        for place, note in enumerate(group):
            if place == 0:
                yield f"## {escape(note.run.topic)}"
            cited |= {found.marker.source for found in find_markers(note.content)}
            yield _note(note)
        if cited and (lines := _sources(run_id, cited)):
            yield "### " + _("Sources")
            yield lines


def _note(note: Note) -> str:
    facts = [NoteForm.kind(note.note_type), note.member, f"{note.created_at:%Y-%m-%d %H:%M} UTC"]
    facts += [f"#{tag}" for tag in note.tags]
    told = " · ".join(map(escape, facts))
    return f"### {escape(note.title)}\n\n*{told}*\n\n{harmless(note.content.strip())}"


def _sources(run_id: UUID, numbers: set[int]) -> str:
    rows = Source.objects.filter(run=run_id, source_id__in=numbers).exclude(finders=[])
    return "\n".join(f"- S{row.source_id}: {escape(row.title)} — {_where(row.uri)}" for row in rows)


def _where(uri: str) -> str:
    return f"<{uri}>" if is_link(uri) else escape(uri)
