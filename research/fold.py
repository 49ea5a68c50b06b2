"""fold: a log becomes a `RunState`, one event at a time.

`FOLDS` says, for each type of event, what it changes. A type that is not in it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar
from uuid import UUID

from msgspec.structs import replace

from streaming import log
from streaming.events import Event, decode

from .cards import (
    Card,
    CitationCard,
    MemberCard,
    MessageCard,
    MomentCard,
    NoteCard,
    RunCard,
    SectionCard,
    SourceCard,
    TaskCard,
    ToolCard,
)
from .state import RunState

C = TypeVar("C", bound=Card)
Step = Callable[[RunState, Event], None]

FOLDS: dict[str, Callable[[RunState, Event], None]] = {}


def fold(state: RunState | None, texts: Sequence[str]) -> RunState:
    """Return the state after these events; the state that is given stays as it is."""
    new = state.copy() if state else RunState()
    for text in texts:
        event = decode(text)
        if step := FOLDS.get(event.type):
            step(new, event)
        new.seq = event.seq
    return new


def load(run_id: UUID) -> RunState:
    """Fold a run's whole log. Blocking; a watched run has its state in the hub."""
    return fold(None, [record.text for record in log.read_after(run_id, 0, 1_000_000)])


# --- what each type of event changes ---------------------------------------------------------------
def on(*types: str) -> Callable[[Step], Step]:
    """Register a step of the fold."""

    def register(step: Step) -> Step:
        FOLDS.update(dict.fromkeys(types, step))
        return step

    return register


def _base(event: Event) -> dict[str, Any]:
    """Return what a new card takes from the envelope."""
    return {
        "born": event.seq,
        "changed": event.seq,
        "ts": event.ts,
        "stream_token": event.stream_token,
        "task_id": event.task_id,
        "member": event.source_member,
        "role": event.role,
        "work": event.work,
        "attempt": event.attempt,
    }


def _change(cards: dict[Any, C], key: Any, event: Event, **changes: Any) -> None:
    """Replace a card; an event about a card that is not there changes nothing."""
    if card := cards.get(key):
        cards[key] = replace(card, changed=event.seq, **changes)


def _change_run(state: RunState, event: Event, **changes: Any) -> None:
    state.run = replace(state.run, changed=event.seq, **changes)


@on("run.started")
def _run_started(state: RunState, event: Event) -> None:
    data = event.data
    state.run = RunCard(
        **_base(event),
        status="running",
        topic=data["topic"],
        language=data.get("language", "en"),
        options=data.get("options", {}),
    )


@on("run.cancelling")
def _run_cancelling(state: RunState, event: Event) -> None:
    _change_run(state, event, status="cancelling")


@on("run.completed", "run.failed", "run.cancelled")
def _run_ended(state: RunState, event: Event) -> None:
    data = event.data
    _change_run(
        state,
        event,
        status=event.type.removeprefix("run."),
        phase="done",
        code=data.get("code"),
        message=data.get("message"),
        partial=data.get("partial", False),
        gaps=data.get("gaps", []),
        ended=event.ts,
    )
    for name in state.members:
        rest = {"status": "stopped", "activity": "", "detail": "", "since": event.ts}
        _change(state.members, name, event, **rest)


@on("member.joined")
def _member_joined(state: RunState, event: Event) -> None:
    data = event.data
    base = _base(event) | {"member": data["name"], "role": data["role"]}
    state.members[data["name"]] = MemberCard(
        **base,
        name=data["name"],
        display_name=data.get("display_name"),
        index=len(state.members),
        since=event.ts,
    )


@on("member.status")
def _member_status(state: RunState, event: Event) -> None:
    status = event.data["status"]
    changes: dict[str, Any] = {"status": status, "since": event.ts}
    if status != "busy":
        changes |= {"activity": "", "detail": ""}
    _change(state.members, event.data["name"], event, **changes)


def _act(state: RunState, event: Event, activity: str, detail: str = "") -> None:
    """Say what the member that speaks is doing."""
    name = event.source_member
    card = state.members.get(name) if name else None
    if card and (card.activity, card.detail) != (activity, detail):
        changes = {"activity": activity, "detail": detail, "since": event.ts}
        lane = {"stream_token": event.stream_token, "task_id": event.task_id}
        _change(state.members, name, event, **changes, **lane)


@on("plan.proposed", "plan.updated")
def _plan(state: RunState, event: Event) -> None:
    for task in event.data["tasks"]:
        known = state.tasks.get(task["task_id"])
        fields = {key: task.get(key, "") for key in ("step", "title", "intent", "query", "status")}
        if known:
            _change(state.tasks, known.task_id, event, **fields)
        else:
            lane = {"task_id": task["task_id"], "stream_token": f"task_{task['task_id']}"}
            state.tasks[task["task_id"]] = TaskCard(**(_base(event) | lane), **fields)
    if event.type == "plan.proposed":
        _change_run(state, event, phase="research")


@on("work.started")
def _work_started(state: RunState, event: Event) -> None:
    phase = (event.work or "").partition(":")[0]
    phases = {"plan": "plan", "task": "research", "write": "write", "verify": "verify"}
    if phase in phases and state.run.phase != phases[phase]:
        _change_run(state, event, phase=phases[phase])


@on("task.started")
def _task_started(state: RunState, event: Event) -> None:
    _change(state.tasks, event.task_id, event, status="in_progress", member=event.source_member)


@on("task.completed", "task.failed", "task.skipped", "task.cancelled")
def _task_ended(state: RunState, event: Event) -> None:
    data = event.data
    _change(
        state.tasks,
        event.task_id,
        event,
        status=event.type.removeprefix("task."),
        summary=data.get("summary", ""),
        message=data.get("message") or data.get("reason") or "",
        source_ids=data.get("source_ids", []),
    )


@on("llm.started")
def _llm_started(state: RunState, event: Event) -> None:
    _act(state, event, "thinking")


@on("message.started")
def _message_started(state: RunState, event: Event) -> None:
    data = event.data
    state.messages[data["message_id"]] = MessageCard(
        **_base(event),
        message_id=data["message_id"],
        kind=data.get("kind", "text"),
        title=data.get("title"),
        section=data.get("section"),
    )
    state.texts[data["message_id"]] = []
    _act(state, event, "writing", data.get("title") or "")


@on("message.delta")
def _message_delta(state: RunState, event: Event) -> None:
    message_id = event.data["message_id"]
    if card := state.messages.get(message_id):
        pieces = state.texts[message_id]
        if not pieces or pieces[-1][0] < event.seq:  # else a fold that came to nothing was here
            pieces.append((event.seq, event.data["delta"]))
        length = card.length + len(event.data["delta"])
        state.messages[message_id] = replace(card, changed=event.seq, length=length)


@on("message.completed")
def _message_completed(state: RunState, event: Event) -> None:
    data = event.data
    message_id = data["message_id"]
    blob = data.get("blob") or {}
    length = blob.get("length", len(data["text"]))
    if not state.texts.get(message_id):
        state.texts[message_id] = [(event.seq, data["text"])]
    _change(
        state.messages,
        message_id,
        event,
        status=data.get("status", "completed"),
        blob=blob.get("hash"),
        length=length,
    )


@on("tool.started")
def _tool_started(state: RunState, event: Event) -> None:
    data = event.data
    state.tools[data["tool_call_id"]] = ToolCard(
        **_base(event),
        tool_call_id=data["tool_call_id"],
        tool=data["tool"],
        args=data.get("args", {}),
    )
    args = data.get("args", {})
    _act(state, event, data["tool"], str(args.get("query") or args.get("title") or "")[:120])


@on("tool.args")
def _tool_args(state: RunState, event: Event) -> None:
    card = state.tools.get(event.data["tool_call_id"])
    if card:
        args = {**card.args, **event.data["delta"]}
        _change(state.tools, card.tool_call_id, event, args=args)


@on("tool.finished")
def _tool_finished(state: RunState, event: Event) -> None:
    data = event.data
    blob = data.get("blob") or {}
    _change(
        state.tools,
        data["tool_call_id"],
        event,
        status=data.get("status", "ok"),
        result=data.get("result", ""),
        blob=blob.get("hash"),
        length=blob.get("length", len(data.get("result", ""))),
        code=data.get("code"),
        backend=data.get("backend"),
        duration_ms=data.get("duration_ms"),
        source_ids=data.get("source_ids", []),
        note_id=data.get("note_id"),
    )


@on("source.found")
def _source_found(state: RunState, event: Event) -> None:
    data = event.data
    finder = (event.work or "", event.attempt or 0)
    known = state.sources.get(data["source_id"])
    if known:
        finders = known.finders if finder in known.finders else [*known.finders, finder]
        _change(state.sources, data["source_id"], event, finders=finders)
        return
    state.sources[data["source_id"]] = SourceCard(
        **_base(event),
        source_id=data["source_id"],
        title=data["title"],
        uri=data["uri"],
        provider=data["provider"],
        document_id=data.get("document_id"),
        context=data.get("context", ""),
        finders=[finder],
    )
    state.dropped.pop(f"source:{data['source_id']}", None)


@on("note.saved")
def _note_saved(state: RunState, event: Event) -> None:
    data = event.data
    fields = {
        "title": data["title"],
        "note_type": data.get("note_type", "general"),
        "tags": data.get("tags", []),
        "content": data["content"],
        "blob": (data.get("blob") or {}).get("hash"),
    }
    if data["note_id"] in state.notes:
        _change(state.notes, data["note_id"], event, **fields)
    else:
        state.notes[data["note_id"]] = NoteCard(**_base(event), note_id=data["note_id"], **fields)


@on("note.deleted")
def _note_deleted(state: RunState, event: Event) -> None:
    if state.notes.pop(event.data["note_id"], None):
        state.dropped[f"note:{event.data['note_id']}"] = event.seq


@on("report.section")
def _report_section(state: RunState, event: Event) -> None:
    data = event.data
    base = _base(event) | {"task_id": data.get("task_id")}
    state.sections[data["section"]] = SectionCard(
        **base,
        section=data["section"],
        kind=data["kind"],
        title=data["title"],
        text=data["text"],
        blob=(data.get("blob") or {}).get("hash"),
        citations=data.get("citations", []),
        stripped=data.get("stripped", []),
    )


@on("citation.checked")
def _citation_checked(state: RunState, event: Event) -> None:
    data = event.data
    state.citations[data["number"]] = CitationCard(
        **_base(event),
        **{key: data.get(key) for key in ("number", "section", "source_id", "verdict", "reason")},
        quote=data.get("quote", ""),
        start=data.get("start"),
        end=data.get("end"),
        brought_by=data.get("brought_by"),
    )
    _change(state.sections, data["section"], event)  # the section shows its verdicts


@on("error.shown", "status", "waiting", "limit.reached", "input.received", "team.interact_failed")
def _moment(state: RunState, event: Event) -> None:
    data = event.data
    state.moments[event.seq] = MomentCard(
        **_base(event),
        kind=event.type,
        text=data.get("message") or data.get("reason") or data.get("text") or data.get("limit", ""),
        code=data.get("code"),
        seconds=data.get("seconds"),
    )


@on("attempt.discarded")
def _attempt_discarded(state: RunState, event: Event) -> None:
    gone = (event.data["work"], event.data["attempt"])
    for name, cards in _droppable(state):
        for key in [key for key, card in cards.items() if (card.work, card.attempt) == gone]:
            del cards[key]
            state.dropped[f"{name}:{key}"] = event.seq
    for key, source in list(state.sources.items()):
        finders = [finder for finder in source.finders if tuple(finder) != gone]
        if not finders:
            del state.sources[key]
            state.dropped[f"source:{key}"] = event.seq
        elif len(finders) < len(source.finders):
            _change(state.sources, key, event, finders=finders)
    state.moments[event.seq] = MomentCard(
        **_base(event) | {"work": None, "attempt": None},
        kind=event.type,
        text=event.data["reason"],
    )


def _droppable(state: RunState) -> Iterator[tuple[str, dict[Any, Any]]]:
    """Return the cards that stand or fall with the attempt that made them."""
    yield "tool", state.tools
    yield "message", state.messages
    yield "note", state.notes
    yield "section", state.sections
    yield "citation", state.citations
    yield "moment", state.moments
