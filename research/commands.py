"""The commands that research adds to the websocket: start and cancel."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from django.contrib.auth import get_user_model
from pydantic import Field

from research.access import visible_run
from research.engine.work import Applied, Started, cancel_run, start_run
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
    applied = await runtime.readers.run(_cancel, principal, command.run)
    fields = {"run": str(command.run), "state": applied.value, "head": applied.cursor}
    return Answer({**fields, "applied_seq": applied.seq})


def _start(user_id: int, command: Start) -> Started:
    user = get_user_model().objects.get(pk=user_id)
    return start_run(user, command.topic, command.options, command.key)


def _cancel(principal: Principal, run_id: UUID) -> Applied:
    user = get_user_model().objects.get(pk=principal.user_id)
    run = visible_run(user, run_id)
    if run.ended:
        raise Conflict("This run has ended.", code="not_running")
    return cancel_run(run.pk, principal.username)


commands.register(Start, start)
commands.register(Cancel, cancel)
