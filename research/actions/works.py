"""Actions on a piece of work: claim it, take it over from the dead, end it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from research.models import (
    Citation,
    Member,
    Note,
    Run,
    RunStatus,
    Source,
    Task,
    TaskStatus,
    ToolCall,
    Work,
    WorkStatus,
)
from streaming import log
from streaming import vocabulary as v
from streaming.events import Ended, Voice, decode
from streaming.exceptions import Conflict
from streaming.open_set import closings

from .change import LEADER, Action, Change, Said, task_of, voice_of

ATTEMPTS = 5  # then it is the work itself that ends the processes


@dataclass(frozen=True, slots=True)
class Claimed:
    """A piece of work that may now be carried out, and the right to write for it."""

    run_id: UUID
    name: str
    member: str
    attempt: int
    input: dict[str, Any]
    voice: Voice
    claim: log.Claim
    talk: dict[str, Any] | None = None


def claim(name: str) -> Action:
    """Claim queued work; the answer is a `Claimed`, or None where it is not to be had."""

    def action(run: Run) -> Change:
        work = Work.objects.filter(run=run, name=name, status=WorkStatus.QUEUED).first()
        if work is None or run.status != "running":
            return Change()
        work.status, work.attempt = WorkStatus.RUNNING, work.attempt + 1
        work.started_at = timezone.now()
        work.save(update_fields=["status", "attempt", "started_at"])
        task = task_of(work)
        voice = voice_of(work, task)
        said: list[Said] = [(voice, v.WorkStarted(member=work.member))]
        said += _member(run, work.member, "busy", voice)
        if task and task.status == TaskStatus.PENDING:
            task.status, task.member = TaskStatus.IN_PROGRESS, work.member
            task.save(update_fields=["status", "member"])
            begun = v.TaskStarted(title=task.title, intent=task.intent, query=task.query)
            said.append((voice, begun))
        held = log.claim(run.pk, work.name)
        claimed = Claimed(
            run.pk, work.name, work.member, work.attempt, work.input, voice, held, work.talk
        )
        return Change(said, claimed)

    return action


def take_over(name: str) -> Action:
    """Close and void the attempt of a worker that is gone, and queue its work again."""

    def action(run: Run) -> Change:
        work = Work.objects.filter(run=run, name=name, status=WorkStatus.RUNNING).first()
        if work is None or run.ended:
            return Change()
        log.claim(run.pk, work.name)  # whoever held it writes no more
        if work.attempt - work.pauses >= ATTEMPTS:
            return fail(name, "gave_up", f"It was begun {ATTEMPTS} times and never ended.")(run)
        said = _close(work, "interrupted")
        _void(work)
        reason = "The process that worked on it ended; it is done again."
        said.append(
            (LEADER, v.AttemptDiscarded(work=work.name, attempt=work.attempt, reason=reason))
        )
        said += _member(run, work.member, "ready", LEADER)
        work.status = WorkStatus.QUEUED
        work.save(update_fields=["status"])
        return Change(said)

    return action


def fail(name: str, code: str, message: str) -> Action:
    """End work that failed. A task fails with it; the run goes on where it can.

    Work that has ended already stays as it is: its worker may not have heard of its own commit.
    """

    def action(run: Run) -> Change:
        work = Work.objects.filter(run=run, name=name, status=WorkStatus.RUNNING).first()
        if work is None:
            return Change()
        work.error_code, work.output = code, {"error": message}
        said: list[Said] = []
        if task := task_of(work):
            task.status, task.error_code = TaskStatus.FAILED, code
            task.save(update_fields=["status", "error_code"])
            said.append((voice_of(work, task), v.TaskFailed(code=code, message=message)))
        return Change(said + end(run, work, "failed", code, message), moves=True)

    return action


def put_aside(name: str, talk: dict[str, Any] | None) -> Action:
    """Let work wait while its run is paused; `talk` is how far it has come with its model.

    The answer is whether it waits: False where the run goes on again already.
    """

    def action(run: Run) -> Change:
        work = Work.objects.filter(run=run, name=name, status=WorkStatus.RUNNING).first()
        if work is None or run.status != RunStatus.PAUSED:
            return Change(value=False)
        said = _close(work, "interrupted")[:-1]
        voice = voice_of(work, task_of(work))
        waits = "The run is paused; it goes on from here."
        said.append((voice, v.WorkFinished(status="interrupted", message=waits)))
        said += _member(run, work.member, "paused", voice)
        work.status, work.talk, work.pauses = WorkStatus.QUEUED, talk, work.pauses + 1
        work.save(update_fields=["status", "talk", "pauses"])
        return Change(said, True)

    return action


def stop(run: Run, work: Work) -> list[Said]:
    """Stop work before its end; a task keeps what was noted for it."""
    log.claim(run.pk, work.name)  # whoever carries it writes no more
    said: list[Said] = []
    task = task_of(work)
    if task and task.status == TaskStatus.IN_PROGRESS:
        task.status = TaskStatus.CANCELLED
        task.save(update_fields=["status"])
        said.append((voice_of(work, task), v.TaskCancelled()))
    if work.status == WorkStatus.RUNNING:
        return said + end(run, work, "cancelled")
    work.status, work.ended_at = WorkStatus.CANCELLED, timezone.now()
    work.save(update_fields=["status", "ended_at"])
    return said + _member(run, work.member, "ready", voice_of(work, task))


def try_again(task_id: int) -> Action:
    """Void what a failed task has brought, and let it wait for somebody who is free.

    Once the report is being written that would come too late.
    """

    def action(run: Run) -> Change:
        if run.status not in (RunStatus.RUNNING, RunStatus.PAUSED):
            raise Conflict("This run is being stopped.", code="not_running")
        task = Task.objects.get(run=run, task_id=task_id)
        if task.status != TaskStatus.FAILED:
            raise Conflict("This task has not failed.", code="not_failed")
        if Work.objects.filter(run=run, name__startswith="write:").exists():
            raise Conflict("The report is being written already.", code="too_late")
        work = Work.objects.get(run=run, name=f"task:{task_id}")
        _void(work)
        reason = "It failed; it is tried again."
        gone = v.AttemptDiscarded(work=work.name, attempt=work.attempt, reason=reason)
        task.status, task.error_code = TaskStatus.PENDING, ""
        task.save(update_fields=["status", "error_code"])
        return Change([(LEADER, gone)], moves=True)

    return action


def end(
    run: Run, work: Work, status: Ended, code: str | None = None, message: str | None = None
) -> list[Said]:
    """Close what the work left open, end it, and set its member free."""
    said = _close(work, status)[:-1]  # the last to close is the work itself: it says more
    voice = voice_of(work, task_of(work))
    said.append((voice, v.WorkFinished(status=status, code=code, message=message)))
    said += _member(run, work.member, "ready", voice)
    work.status, work.ended_at, work.talk = WorkStatus(status), timezone.now(), None
    work.save(update_fields=["status", "ended_at", "output", "error_code", "talk"])
    return said


def _close(work: Work, status: Ended) -> list[Said]:
    texts = log.read_work(work.run_id, work.name, work.attempt)
    return list(closings((decode(text) for text in texts), status, tasks=False))


def _member(run: Run, name: str, status: Any, voice: Voice) -> list[Said]:
    Member.objects.filter(run=run, name=name).update(status=status)
    return [(voice, v.MemberStatus(name=name, status=status))]


def _void(work: Work) -> None:
    """Delete what a dead attempt wrote down. A source that another attempt found too stays."""
    attempt = {"run_id": work.run_id, "work": work.name, "attempt": work.attempt}
    ToolCall.objects.filter(**attempt).delete()
    Note.objects.filter(**attempt).delete()
    gone = [work.name, work.attempt]
    for source in Source.objects.filter(run_id=work.run_id):
        if gone in source.finders:
            source.finders = [finder for finder in source.finders if finder != gone]
            if source.finders:
                source.save(update_fields=["finders"])
            else:
                source.delete()
    kind, _, number = work.name.partition(":")
    if kind == "write":
        Citation.objects.filter(run_id=work.run_id, section=int(number)).delete()
    if task := task_of(work):
        Task.objects.filter(pk=task.pk).update(summary="")
