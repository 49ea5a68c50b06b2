"""Cards: what a run looks like at one moment, piece by piece. Frozen; JSON by msgspec.

`born` and `changed` are the `seq` of the events that made a card and changed it last.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Card(Struct, frozen=True, kw_only=True):
    """What every card has. `work` and `attempt` say with which try of a work it stands or falls."""

    born: int
    changed: int
    ts: int  # ms since the epoch, of the event that made it
    stream_token: str | None = None
    task_id: int | None = None
    member: str | None = None
    role: str | None = None
    work: str | None = None
    attempt: int | None = None


class RunCard(Card, frozen=True, kw_only=True):
    """The run as a whole. It is `pausing` until nobody works any more, then `paused`."""

    status: str = "queued"
    parent: str | None = None  # the run that it follows
    paused: int | None = None  # since when it is paused, ms
    waited: int = 0  # for how long it was paused before, ms
    topic: str = ""
    language: str = "en"
    options: dict[str, Any] = {}
    phase: str = "plan"  # plan, research, write, verify, done
    code: str | None = None
    message: str | None = None
    partial: bool = False
    gaps: list[int] = []
    ended: int | None = None  # ms

    @property
    def clock(self) -> int:
        """Return when it would have begun if it had never been paused, in ms."""
        return self.ts + self.waited


class TaskCard(Card, frozen=True, kw_only=True):
    """A planned sub-question. `task_id` and `stream_token` are its own."""

    step: int
    title: str
    intent: str = ""
    query: str = ""
    status: str = "pending"
    summary: str = ""
    message: str = ""  # why it failed or was skipped
    code: str | None = None
    source_ids: list[int] = []


class MemberCard(Card, frozen=True, kw_only=True):
    """Who speaks: what it is doing, and what it has used so far, void attempts included."""

    name: str
    display_name: str | None = None
    index: int  # its place in the team: tells its colour
    status: str = "ready"
    activity: str = ""  # "", asking, thinking, writing, or the name of a tool
    detail: str = ""
    since: int = 0  # ms
    calls: int = 0  # of models
    input_tokens: int = 0
    output_tokens: int = 0
    tools: dict[str, int] = {}  # how often each was used


class ToolCard(Card, frozen=True, kw_only=True):
    """One use of a tool."""

    tool_call_id: str
    tool: str
    args: dict[str, Any] = {}
    status: str = "running"
    result: str = ""
    blob: str | None = None
    length: int = 0
    code: str | None = None
    backend: str | None = None
    duration_ms: int | None = None
    source_ids: list[int] = []
    note_id: int | None = None


class MessageCard(Card, frozen=True, kw_only=True):
    """Something said. Its text is kept apart: see `RunState.text_of`."""

    message_id: str
    kind: str = "text"
    title: str | None = None
    section: int | None = None
    status: str = "streaming"
    blob: str | None = None
    length: int = 0


class NoteCard(Card, frozen=True, kw_only=True):
    """A note."""

    note_id: int
    title: str
    note_type: str = "general"
    tags: list[str] = []
    content: str = ""
    blob: str | None = None


class SourceCard(Card, frozen=True, kw_only=True):
    """A page, document or result. `finders` are the attempts that found it."""

    source_id: int
    title: str
    uri: str
    provider: str
    finders: list[tuple[str, int]] = []
    document_id: int | None = None
    context: str = ""
    hash: str | None = None  # of its text, once that was fetched and archived
    length: int = 0
    fetched: int | None = None  # ms
    media_type: str = ""
    published: str = ""  # a date


class SectionCard(Card, frozen=True, kw_only=True):
    """A written section of the report; `text` is Markdown with citations as [n]."""

    section: int
    kind: str
    title: str
    text: str
    blob: str | None = None
    citations: list[dict[str, Any]] = []
    stripped: list[str] = []


class CitationCard(Card, frozen=True, kw_only=True):
    """A checked citation."""

    number: int
    section: int
    source_id: int
    verdict: str
    reason: str
    quote: str = ""
    start: int | None = None
    end: int | None = None
    brought_by: str | None = None


class MomentCard(Card, frozen=True, kw_only=True):
    """Something that happened and has no card of its own: an error, a wait, a discarded attempt."""

    kind: str  # the event's type
    text: str = ""
    code: str | None = None
    seconds: float | None = None
    input_id: str | None = None  # of what a person said
    to: str | None = None  # the member it was said to; None: all of them
    heard: list[str] = []  # the members that were asked with it
    missed: bool = False  # nobody hears it any more
