"""What people may do with a run: steer, pause, resume, finish, cancel, try again, run again.

Each is one transaction: the row, its event, and the answer that the same key gets again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction

from research.actions import runs
from research.actions.change import Action, Change
from research.actions.steer import cleaned
from research.actions.steer import steer as steered
from research.models import Command, Run
from streaming import log
from streaming.exceptions import BadRequest, Conflict

from .work import Started, apply, do, rerun, retry_task

Answer = dict[str, Any]
MEMBER_LENGTH = 64


@dataclass(frozen=True, slots=True)
class Obeyed:
    """The answer to a command, and whether its key had been answered before."""

    answer: Answer
    duplicate: bool = False

    @property
    def fields(self) -> Answer:
        """Return what an ack says."""
        return {**self.answer, "duplicate": self.duplicate}


def steer(run: Run, user: Any, text: str, to: str = "", key: str | None = None) -> Obeyed:
    """Say something to the team, or to one member of it.

    `BadRequest` (`empty_text`, `too_long`), `NotFound` (`no_member`) or `Conflict` (`not_running`,
    `too_many_steers`) say why not.
    """
    said = cleaned(text)
    if len(to) > MEMBER_LENGTH:
        raise BadRequest("No member has such a long name.", code="no_member")

    def ask() -> Answer:
        answer, row = _change(run, steered(user.get_username(), said, to))
        return {**answer, "input_id": row.input_id, "missed": row.missed}

    return _once(user, key, "steer", run, [said, to], ask)


def pause(run: Run, user: Any, key: str | None = None) -> Obeyed:
    """Let a run wait; `Conflict` (`not_running`) where it does not go on."""
    return _ask(run, user, key, "pause", runs.pause(user.get_username()))


def resume(run: Run, user: Any, key: str | None = None) -> Obeyed:
    """Let a paused run go on; `Conflict` (`not_paused`, `not_running`) where it does not wait."""
    return _ask(run, user, key, "resume", runs.resume(user.get_username()))


def finish(run: Run, user: Any, key: str | None = None) -> Obeyed:
    """Have the report written from what is there; `Conflict` (`not_running`, `too_late`)."""
    return _ask(run, user, key, "finish", runs.request_finish(user.get_username()))


def cancel(run: Run, user: Any, key: str | None = None) -> Obeyed:
    """Stop a run; `Conflict` (`not_running`) where it has ended."""
    request = runs.request_cancel(user.get_username())

    def action(row: Run) -> Change:
        if row.ended:
            raise Conflict("This run has ended.", code="not_running")
        return request(row)

    return _ask(run, user, key, "cancel", action)


def retry(run: Run, user: Any, task_id: int, key: str | None = None) -> Obeyed:
    """Try one task again: in place while the run goes on, else in a child run."""

    def ask() -> Answer:
        run.refresh_from_db()
        started = retry_task(run, task_id, user)
        return _started(started) if started.run.pk != run.pk else _standing(run)

    return _once(user, key, "retry", run, [task_id], ask)


def again(run: Run, user: Any, key: str | None = None) -> Obeyed:
    """Ask the same again, as a child of a run that has ended; else `Conflict` (`still_running`)."""

    def ask() -> Answer:
        run.refresh_from_db()
        return _started(rerun(run, user))

    return _once(user, key, "rerun", run, [], ask)


def _ask(run: Run, user: Any, key: str | None, type: str, action: Action) -> Obeyed:
    return _once(user, key, type, run, [], lambda: _change(run, action)[0])


def _change(run: Run, action: Action) -> tuple[Answer, Any]:
    """Apply an action; return where its effect stands in the log, and the action's own answer."""
    applied = apply(run.pk, action)
    answer = {"run": str(run.pk), "head": applied.cursor, "applied_seq": applied.seq}
    return answer | {"state": Run.objects.get(pk=run.pk).status}, applied.value


def _standing(run: Run) -> Answer:
    run.refresh_from_db()
    at = log.head(run.pk)
    return {"run": str(run.pk), "state": run.status, "head": at.cursor, "applied_seq": at.seq}


def _started(started: Started) -> Answer:
    run = started.run
    return {"run": str(run.pk), "parent": str(run.parent_id), "state": run.status}


def _once(
    user: Any, key: str | None, type: str, run: Run, about: list[Any], ask: Callable[[], Answer]
) -> Obeyed:
    """Do it, or return what the same key was answered; `Conflict` for a key of something else."""
    asked = json.dumps([str(run.pk), *about])
    mark = hashlib.sha256(asked.encode()).hexdigest()
    work = partial(_in_one, user, key, type, run, mark, ask)
    try:
        return do(work)
    except IntegrityError:  # another process was faster with the same key
        return do(work)


def _in_one(
    user: Any, key: str | None, type: str, run: Run, mark: str, ask: Callable[[], Answer]
) -> Obeyed:
    with transaction.atomic():
        kept = Command.objects.filter(user=user, key=key).first() if key else None
        if kept and (kept.type, kept.request_hash) != (type, mark):
            raise Conflict("This key was used for something else.", code="key_reused")
        if kept:
            return Obeyed(kept.answer, duplicate=True)
        answer = ask()
        if key:
            of_it = {"type": type, "request_hash": mark, "run": run, "answer": answer}
            Command.objects.create(user=user, key=key, **of_it)
        return Obeyed(answer)
