"""note: the tool. What a member writes down stays in its run, and nobody else's can be reached."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from pydantic_ai import ModelRetry, RunContext

from research.actions import notes, tools
from research.actions.change import Change, Said
from research.actions.tools import Use
from research.models import Note, Run
from streaming.text import clean_json

from .use import Finish

NoteAction = Literal["create", "read", "update", "delete", "list", "search", "summary"]
LISTED = 100
LAST = 2**31  # what a database takes for a number


async def note(
    ctx: RunContext[Any],
    action: NoteAction,
    title: str | None = None,
    content: str | None = None,
    note_type: str | None = None,
    tags: list[str] | None = None,
    note_id: int | None = None,
    query: str | None = None,
    limit: int = 10,
) -> str:
    """Write down, read and find notes of this research.

    Args:
        action: create, read, update, delete, list, search or summary.
        title: Of a note that is created or updated.
        content: Of a note that is created or updated, with the markers of its passages.
        note_type: task_state, conclusion, blocker, action, reference or general.
        tags: Words to find it by.
        note_id: The note to read, update or delete.
        query: What to search notes for.
        limit: How many notes to list or find.
    """
    uses = ctx.deps
    args = {
        "action": action,
        "title": title,
        "content": content,
        "note_type": note_type,
        "tags": tags,
        "note_id": note_id,
        "query": query,
    }
    given = clean_json({key: value for key, value in args.items() if value is not None})
    limit = max(1, min(limit, LISTED))

    async def body(use: Use) -> Finish:
        if action == "create" and not (title and content):
            raise ModelRetry("A note needs a title and a content.")
        if content and len(content) > notes.CONTENT_LENGTH:
            raise ModelRetry(f"A note has at most {notes.CONTENT_LENGTH} characters.")
        if action in ("read", "update", "delete") and note_id is None:
            raise ModelRetry(f"To {action} a note, give its note_id.")
        if action == "search" and not query:
            raise ModelRetry("To search notes, give a query.")

        def finish(run: Run, duration_ms: int) -> Change:
            result, said, number = _perform(run, use, given, limit)
            change = tools.finish(run, use, result, duration_ms, before=said, note_id=number)
            change.value = result
            return change

        return finish

    answer: str = await uses.run("note", given, body)
    return answer


def _perform(
    run: Run, use: Use, args: dict[str, Any], limit: int
) -> tuple[str, list[Said], int | None]:
    """Do what the action says; return the answer, what to say, and the note it is about."""
    mine = Note.objects.filter(run=run)
    match args["action"]:
        case "create":
            if mine.count() >= notes.MOST:
                raise ModelRetry(f"A run keeps at most {notes.MOST} notes: change one instead.")
            row, said = notes.create(
                run,
                use,
                args["title"],
                args["content"],
                args.get("note_type", "general"),
                args.get("tags", ()),
            )
            return f"Note {row.note_id} is written.", said, row.note_id
        case "list":
            return _listing(list(mine[:limit])), [], None
        case "search":
            words = args["query"].casefold().split()
            hits = [row for row in mine if _holds(row, words)]
            return _listing(hits[:limit]), [], None
        case "summary":
            kinds = Counter(mine.values_list("note_type", flat=True))
            lines = [f"{kinds.total()} notes", *(f"{kind}: {n}" for kind, n in kinds.items())]
            return "\n".join(lines), [], None
    number = args["note_id"]
    known = mine.filter(note_id=number).first() if 0 < number < LAST else None
    if known is None:
        raise ModelRetry(f"There is no note {number}.")
    match args["action"]:
        case "update":
            said = notes.update(
                run,
                use,
                known,
                args.get("title"),
                args.get("content"),
                args.get("note_type"),
                args.get("tags"),
            )
            return f"Note {number} is changed.", said, number
        case "delete":
            return f"Note {number} is deleted.", notes.delete(use, known), number
    return f"{_line(known)}\n\n{known.content}", [], number


def _holds(row: Note, words: list[str]) -> bool:
    text = f"{row.title} {row.content} {' '.join(row.tags)}".casefold()
    return all(word in text for word in words)


def _line(row: Note) -> str:
    tags = f" ({', '.join(row.tags)})" if row.tags else ""
    return f"{row.note_id}. [{row.note_type}] {row.title}{tags}"


def _listing(rows: list[Note]) -> str:
    return "\n".join(_line(row) for row in rows) or "There are no notes."
