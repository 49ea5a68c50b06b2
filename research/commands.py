"""The commands that research adds to the websocket: start and cancel."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from django.contrib.auth import get_user_model
from pydantic import Field

from research.access import visible_run
from research.engine.work import Started, cancel_run, do, start_run
from research.models import Command as Kept
from research.options import RunOptions
from streaming import commands
from streaming.commands import Answer, Command, Key, Principal, SubscribeSpec, Text
from streaming.exceptions import Conflict
from streaming.runtime import Runtime


class Start(Command):
    """Start a run, and follow it from its first event on if `subscribe` says how."""

    type: Literal["start"]
    key: Key | None = None
    topic: Annotated[Text, Field(min_length=1)]
    options: RunOptions = RunOptions()
    subscribe: SubscribeSpec | None = None


class Cancel(Command):
    """Stop a run. What was found and written so far is kept."""

    type: Literal["cancel"]
    run: UUID
    key: Key | None = None


async def start(runtime: Runtime, principal: Principal, command: Start) -> Answer:
    """Start a run for whoever asks."""
    started = await runtime.readers.run(_start, principal.user_id, command)
    return Answer(
        {"run": str(started.run.pk), "state": started.run.status, "duplicate": started.duplicate}
    )


async def cancel(runtime: Runtime, principal: Principal, command: Cancel) -> Answer:
    """Ask for a run to be cancelled; the terminal event comes within two seconds."""
    return Answer(await runtime.readers.run(_cancel, principal, command))


def _start(user_id: int, command: Start) -> Started:
    user = get_user_model().objects.get(pk=user_id)
    return start_run(user, command.topic, command.options, command.key)


def _cancel(principal: Principal, command: Cancel) -> dict[str, Any]:
    """Cancel a run, or give the answer again that the same key was given before."""
    user = get_user_model().objects.get(pk=principal.user_id)
    run = visible_run(user, command.run)
    kept = Kept.objects.filter(user=user, key=command.key).first() if command.key else None
    if kept and (kept.type, kept.run_id) != ("cancel", run.pk):
        raise Conflict("This key was used for something else.", code="key_reused")
    if kept:
        return {**kept.answer, "duplicate": True}
    if run.ended:
        raise Conflict("This run has ended.", code="not_running")
    applied = cancel_run(run.pk, principal.username)
    answer = {
        "run": str(run.pk),
        "state": applied.value,
        "head": applied.cursor,
        "applied_seq": applied.seq,
    }
    if command.key:  # twice at once is cancelled once all the same
        remembered = {"type": "cancel", "run": run, "answer": answer}
        do(lambda: Kept.objects.get_or_create(user=user, key=command.key, defaults=remembered))
    return {**answer, "duplicate": False}


commands.register(Start, start)
commands.register(Cancel, cancel)
