"""Actions on notes. A note is written once for each use of the tool, however often it is asked."""

from __future__ import annotations

from collections.abc import Sequence

from research.models import Note, Run
from streaming import vocabulary as v

from .change import Said, task_in
from .tools import Use

TAGS, TAG_LENGTH = 20, 64


def create(
    run: Run, use: Use, title: str, content: str, note_type: str, tags: Sequence[str]
) -> tuple[Note, list[Said]]:
    """Write a note."""
    written = Note.objects.filter(run=run, tool_call_id=use.tool_call_id).first()
    if written:
        return written, []
    run.last_note += 1
    run.save(update_fields=["last_note"])
    task = task_in(run, use.voice)
    note = Note.objects.create(
        run=run,
        note_id=run.last_note,
        task=task,
        member=use.voice.source_member or "",
        work=use.voice.work or "",
        attempt=use.voice.attempt or 0,
        title=title[:300],
        note_type=note_type[:32],
        tags=_kept(tags),
        content=content,
        tool_call_id=use.tool_call_id,
    )
    return note, [_saved(use, note, "create")]


def update(
    run: Run,
    use: Use,
    note: Note,
    title: str | None,
    content: str | None,
    note_type: str | None,
    tags: Sequence[str] | None,
) -> list[Said]:
    """Change a note of the same run."""
    note.title = title[:300] if title else note.title
    note.content = content if content is not None else note.content
    note.note_type = note_type[:32] if note_type else note.note_type
    note.tags = _kept(tags) if tags is not None else note.tags
    note.save()
    return [_saved(use, note, "update")]


def delete(use: Use, note: Note) -> list[Said]:
    """Delete a note of the same run."""
    note_id = note.note_id
    note.delete()
    return [(use.voice, v.NoteDeleted(note_id=note_id, tool_call_id=use.tool_call_id))]


def _kept(tags: Sequence[str]) -> list[str]:
    return [tag[:TAG_LENGTH] for tag in tags[:TAGS]]


def _saved(use: Use, note: Note, action: str) -> Said:
    saved = v.NoteSaved(
        note_id=note.note_id,
        action="create" if action == "create" else "update",
        title=note.title,
        note_type=note.note_type,
        tags=note.tags,
        content=note.content,
        tool_call_id=use.tool_call_id,
    )
    return use.voice, saved
