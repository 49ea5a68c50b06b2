"""Actions of tools: each use is one row, and its events stand in the same transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from research.models import Run, Source, ToolCall
from streaming import vocabulary as v
from streaming.events import Voice
from streaming.text import clean, clean_json

from .change import Action, Change, Said, task_in

ToolStatus = Literal["ok", "error"]
ARGS_LENGTH = 24_000  # of the arguments that are written down, as JSON: they are one event


@dataclass(frozen=True, slots=True)
class Found:
    """A source that a tool came upon."""

    uri: str
    title: str
    provider: str
    context: str
    archive_hash: str | None
    document_id: int | None


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a tool: by which work, and under which id."""

    tool_call_id: str
    tool: str
    voice: Voice

    @property
    def attempt(self) -> list[Any]:
        """Return the attempt that it stands or falls with."""
        return [self.voice.work, self.voice.attempt]


def start(use: Use, args: dict[str, Any]) -> Action:
    """Write down that a tool is used; of very long arguments, how they begin."""
    args = _shortened(clean_json(args))

    def action(run: Run) -> Change:
        ToolCall.objects.create(
            run=run,
            tool_call_id=use.tool_call_id,
            task=task_in(run, use.voice),
            member=use.voice.source_member or "",
            work=use.voice.work or "",
            attempt=use.voice.attempt or 0,
            tool=use.tool,
            args=args,
        )
        return Change(
            [(use.voice, v.ToolStarted(tool_call_id=use.tool_call_id, tool=use.tool, args=args))]
        )

    return action


def finish(
    run: Run,
    use: Use,
    result: str,
    duration_ms: int,
    *,
    status: ToolStatus = "ok",
    code: str | None = None,
    backend: str | None = None,
    note_id: int | None = None,
    source_ids: Sequence[int] = (),
    before: Sequence[Said] = (),
) -> Change:
    """Write down how a use ended, after what it brought."""
    ToolCall.objects.filter(run=run, tool_call_id=use.tool_call_id).update(
        status=status, result=clean(result)[:100_000], duration_ms=duration_ms
    )
    finished = v.ToolFinished(
        tool_call_id=use.tool_call_id,
        tool=use.tool,
        status=status,
        result=result,
        duration_ms=duration_ms,
        code=code,
        backend=backend,
        note_id=note_id,
        source_ids=list(source_ids),
    )
    return Change([*before, (use.voice, finished)])


def record_sources(run: Run, use: Use, found: Sequence[Found]) -> tuple[dict[str, int], list[Said]]:
    """Give each source its number in the run; return the numbers by uri, and what to say."""
    known = {row.uri: row for row in Source.objects.filter(run=run, uri__in=[f.uri for f in found])}
    numbers: dict[str, int] = {}
    said: list[Said] = []
    for item in found:
        row = known.get(item.uri)
        if row is None:
            run.last_source += 1
            row = Source.objects.create(
                run=run,
                source_id=run.last_source,
                task=task_in(run, use.voice),
                member=use.voice.source_member or "",
                finders=[use.attempt],
                provider=item.provider,
                title=item.title[:300],
                uri=item.uri,
                archive_id=item.archive_hash,
                document_id=item.document_id,
            )
            known[item.uri] = row
        elif use.attempt not in row.finders:
            row.finders = [*row.finders, use.attempt]
            row.save(update_fields=["finders"])
        else:
            numbers[item.uri] = row.source_id
            continue
        numbers[item.uri] = row.source_id
        said.append(
            (
                use.voice,
                v.SourceFound(
                    source_id=row.source_id,
                    title=row.title,
                    uri=row.uri,
                    provider=row.provider,
                    tool_call_id=use.tool_call_id,
                    document_id=row.document_id,
                    context=item.context,
                ),
            )
        )
    run.save(update_fields=["last_source"])
    return numbers, said


def _shortened(args: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments, their texts and lists cut until all of them have room."""
    for length in (ARGS_LENGTH, 2_000, 100):
        short: dict[str, Any] = _cut(args, length)
        if len(json.dumps(short)) <= ARGS_LENGTH:
            return short
    return {}


def _cut(value: Any, length: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= length else f"{value[:length]}…"
    if isinstance(value, dict):
        return {key: _cut(item, length) for key, item in list(value.items())[:length]}
    if isinstance(value, list):
        return [_cut(item, length) for item in value[:length]]
    return value
