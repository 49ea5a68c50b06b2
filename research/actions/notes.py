"""Actions on notes. A note is written once for each use of the tool, however often it is asked.

What people do to notes says so in the log while the run goes on; after its end nothing can be
added to the log, and only the row changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from research.models import Note, Run
from streaming import vocabulary as v
from streaming.events import Voice
from streaming.exceptions import BadRequest, Conflict, NotFound
from streaming.members import Role
from streaming.text import clean

from .change import Action, Change, Said, task_in
from .people import NAME_LENGTH, person
from .tools import Use

TAGS, TAG_LENGTH = 20, 64
TITLE_LENGTH, TYPE_LENGTH, CONTENT_LENGTH = 300, 32, 50_000
MOST = 10_000  # notes of one run


@dataclass(frozen=True, slots=True)
class Written:
    """What a person wrote, cleaned and not too long."""

    title: str
    content: str
    note_type: str = "general"
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, title: str, content: str, note_type: str = "", tags: Sequence[str] = ()) -> Self:
        """Return it; `BadRequest` says what is missing or too long."""
        title, content = " ".join(clean(title).split()), clean(content)
        content = content.replace("\r\n", "\n").strip()  # a browser's lines end so
        if not title:
            raise BadRequest("A note needs a title.", code="empty_note")
        if not content:
            raise BadRequest("A note needs a text.", code="empty_note")
        if len(title) > TITLE_LENGTH:
            raise BadRequest(f"A title has at most {TITLE_LENGTH} characters.", code="too_long")
        if len(content) > CONTENT_LENGTH:
            raise BadRequest(f"A note has at most {CONTENT_LENGTH} characters.", code="too_long")
        kind = " ".join(clean(note_type).split())[:TYPE_LENGTH] or "general"
        words = (" ".join(clean(tag).split()) for tag in tags)
        return cls(title, content, kind, tuple(_kept(list(dict.fromkeys(filter(None, words))))))


# --- members ------------------------------------------------------------------------------------


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
        title=title[:TITLE_LENGTH],
        note_type=note_type[:TYPE_LENGTH],
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
    note.title = title[:TITLE_LENGTH] if title else note.title
    note.content = content if content is not None else note.content
    note.note_type = note_type[:TYPE_LENGTH] if note_type else note.note_type
    note.tags = _kept(tags) if tags is not None else note.tags
    note.save()
    return [_saved(use, note, "update")]


def delete(use: Use, note: Note) -> list[Said]:
    """Delete a note of the same run."""
    note_id = note.note_id
    note.delete()
    return [(use.voice, v.NoteDeleted(note_id=note_id, tool_call_id=use.tool_call_id))]


# --- people -------------------------------------------------------------------------------------
def add(by: str, written: Written) -> Action:
    """Write a person's own note; the answer is the note."""

    def action(run: Run) -> Change:
        if Note.objects.filter(run=run).count() >= MOST:
            raise Conflict(f"A run keeps at most {MOST} notes.", code="too_many_notes")
        run.last_note += 1
        run.save(update_fields=["last_note"])
        voice, said = _voice(run, by)
        name = voice.source_member or ""
        note = Note(run=run, note_id=run.last_note, member=name, work="", attempt=0)
        _write(note, written)
        return Change(_told(run, said, (voice, _as_saved(note, "create"))), note)

    return action


def edit(by: str, note_id: int, written: Written, seen: datetime | None = None) -> Action:
    """Change a note as a person; the answer is the note.

    With `seen`, when the text was changed last that the person had before them, `Conflict` where
    it has been changed since.
    """

    def action(run: Run) -> Change:
        note = _note_of(run, note_id)
        if seen and seen != note.updated_at:
            raise Conflict("This note was changed in the meantime.", code="note_changed")
        _write(note, written)
        voice, said = _voice(run, by)
        return Change(_told(run, said, (voice, _as_saved(note, "update"))), note)

    return action


def remove(by: str, note_id: int) -> Action:
    """Delete a note as a person."""

    def action(run: Run) -> Change:
        _note_of(run, note_id).delete()
        voice, said = _voice(run, by)
        return Change(_told(run, said, (voice, v.NoteDeleted(note_id=note_id))))

    return action


def _note_of(run: Run, note_id: int) -> Note:
    note = Note.objects.filter(run=run, note_id=note_id).first()
    if note is None:
        raise NotFound("There is no such note.")
    return note


def _write(note: Note, written: Written) -> None:
    note.title, note.content = written.title, written.content
    note.note_type, note.tags = written.note_type, list(written.tags)
    note.save()


def _voice(run: Run, by: str) -> tuple[Voice, list[Said]]:
    """Return in whose name it is done; after the end of a run nobody joins its team any more."""
    if run.ended:
        return Voice(source_member=by[:NAME_LENGTH], role=Role.HUMAN_AGENT), []
    return person(run, by)


def _told(run: Run, joined: list[Said], said: Said) -> list[Said]:
    return [] if run.ended else [*joined, said]


# --- both ---------------------------------------------------------------------------------------
def _kept(tags: Sequence[str]) -> list[str]:
    return [tag[:TAG_LENGTH] for tag in tags[:TAGS]]


def _saved(use: Use, note: Note, action: str) -> Said:
    return use.voice, _as_saved(note, action, use.tool_call_id)


def _as_saved(note: Note, action: str, tool_call_id: str | None = None) -> v.NoteSaved:
    return v.NoteSaved(
        note_id=note.note_id,
        action="create" if action == "create" else "update",
        title=note.title,
        note_type=note.note_type,
        tags=note.tags,
        content=note.content,
        tool_call_id=tool_call_id,
    )
