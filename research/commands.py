"""The commands that research adds to the websocket: start a run, and say what it is to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

from django.contrib.auth import get_user_model
from pydantic import Field

from research.access import visible_run
from research.engine import controls
from research.engine.controls import Obeyed
from research.engine.work import Started, start_run
from research.models import Run
from research.options import RunOptions
from streaming import commands
from streaming.commands import ID_MAX, Answer, Command, Key, Principal, SubscribeSpec, Text
from streaming.runtime import Runtime


class Start(Command):
    """Start a run, and follow it from its first event on if `subscribe` says how.

    With a `parent` it is a follow-up to that run.
    """

    type: Literal["start"]
    key: Key | None = None
    topic: Annotated[Text, Field(min_length=1)]
    options: RunOptions = RunOptions()
    parent: UUID | None = None
    subscribe: SubscribeSpec | None = None


class OfRun(Command):
    """What every command about a run has."""

    run: UUID
    key: Key | None = None


class Steer(OfRun):
    """Say something to the team: it is in the next prompt of all of them, or of one member."""

    type: Literal["steer"]
    text: Text
    to: Text = ""


class Pause(OfRun):
    """Let a run wait. What goes on stops where its model would be asked next."""

    type: Literal["pause"]


class Resume(OfRun):
    """Let a paused run go on."""

    type: Literal["resume"]


class Finish(OfRun):
    """Have the report written from what is there."""

    type: Literal["finish"]


class Cancel(OfRun):
    """Stop a run. What was found and written so far is kept."""

    type: Literal["cancel"]


class Retry(OfRun):
    """Try one task again: in place while the run goes on, else in a child run."""

    type: Literal["retry"]
    task_id: Annotated[int, Field(ge=1, le=ID_MAX)]


class Rerun(OfRun):
    """Ask the same again, in a child run."""

    type: Literal["rerun"]


C = TypeVar("C", bound=OfRun)
Control = Callable[[Run, Any, C], Obeyed]


async def start(runtime: Runtime, principal: Principal, command: Start) -> Answer:
    """Start a run for whoever asks."""
    started = await runtime.readers.run(_start, principal.user_id, command)
    return Answer(
        {"run": str(started.run.pk), "state": started.run.status, "duplicate": started.duplicate}
    )


def _start(user_id: int, command: Start) -> Started:
    user = get_user_model().objects.get(pk=user_id)
    parent = visible_run(user, command.parent) if command.parent else None
    return start_run(user, command.topic, command.options, command.key, parent)


def _register(model: type[C], control: Control[C]) -> None:
    """Make a control known as a command."""

    def obey(principal: Principal, command: C) -> Obeyed:
        user = get_user_model().objects.get(pk=principal.user_id)
        return control(visible_run(user, command.run), user, command)

    async def handle(runtime: Runtime, principal: Principal, command: C) -> Answer:
        return Answer((await runtime.readers.run(obey, principal, command)).fields)

    commands.register(model, handle)


commands.register(Start, start)
_register(Steer, lambda run, user, it: controls.steer(run, user, it.text, it.to, it.key))
_register(Pause, lambda run, user, it: controls.pause(run, user, it.key))
_register(Resume, lambda run, user, it: controls.resume(run, user, it.key))
_register(Finish, lambda run, user, it: controls.finish(run, user, it.key))
_register(Cancel, lambda run, user, it: controls.cancel(run, user, it.key))
_register(Retry, lambda run, user, it: controls.retry(run, user, it.task_id, it.key))
_register(Rerun, lambda run, user, it: controls.again(run, user, it.key))
