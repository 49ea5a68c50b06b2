"""The rows of research. `research.actions` is the only writer of those that events tell of."""

from .account import ApiToken, Command, Scope, SignInTries
from .evidence import Citation, Note, Source, ToolCall
from .library import Archive, Chunk, Collection, Document
from .run import Member, Run, RunStatus, Steer, Task, TaskStatus, Work, WorkStatus

__all__ = [
    "ApiToken",
    "Archive",
    "Chunk",
    "Citation",
    "Collection",
    "Command",
    "Document",
    "Member",
    "Note",
    "Run",
    "RunStatus",
    "Scope",
    "SignInTries",
    "Source",
    "Steer",
    "Task",
    "TaskStatus",
    "ToolCall",
    "Work",
    "WorkStatus",
]
