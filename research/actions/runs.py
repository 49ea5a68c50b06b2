"""Actions on a run as a whole: start, pause, resume, finish, cancel, end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils import timezone

from research.models import Member, Run, RunStatus, Task, TaskStatus, Work, WorkStatus
from streaming import log
from streaming import vocabulary as v
from streaming.events import Data, decode
from streaming.exceptions import Conflict
from streaming.open_set import closings

from . import works
from .change import LEADER, Action, Change, Said, role_of
from .people import person
from .steer import unheard

RESEARCHERS = 3


def team_names(options: dict[str, Any]) -> list[str]:
    """Return the names of the team's members, the leader first."""
    count = int(options.get("researchers", RESEARCHERS))
    return ["leader", *(f"researcher-{n}" for n in range(1, count + 1)), "writer", "verifier"]


def start(run: Run) -> Change:
    """Begin a run that was just created, and bring its team together."""
    names = team_names(run.options)
    Member.objects.bulk_create(Member(run=run, name=name, role=role_of(name)) for name in names)
    said: list[Said] = [
        (
            LEADER,
            v.RunStarted(
                topic=run.topic,
                language=run.language,
                options=run.options,
                parent=str(run.parent_id) if run.parent_id else None,
            ),
        ),
        (LEADER, v.TeamReady(team_name="research", session_id=str(run.pk))),
    ]
    said += [(LEADER, v.MemberJoined(name=name, role=role_of(name))) for name in names]
    return Change(said, moves=True)


def request_cancel(by: str) -> Action:
    """Say that a run is to be cancelled; it writes nothing where it is so already."""

    def action(run: Run) -> Change:
        if run.ended or run.status == RunStatus.CANCELLING:
            return Change(value=run.status)
        return _asked(run, by, RunStatus.CANCELLING, v.RunCancelling(by=by))

    return action


def pause(by: str) -> Action:
    """Let nothing new begin; what goes on stops where its model would be asked next."""

    def action(run: Run) -> Change:
        if run.status == RunStatus.PAUSED:
            return Change(value=run.status)
        if run.status != RunStatus.RUNNING:
            raise _not_running(run)
        return _asked(run, by, RunStatus.PAUSED, v.RunPaused(by=by))

    return action


def resume(by: str) -> Action:
    """Let a paused run go on where it was."""

    def action(run: Run) -> Change:
        if run.status == RunStatus.RUNNING:
            raise Conflict("This run is not paused.", code="not_paused")
        if run.status != RunStatus.PAUSED:
            raise _not_running(run)
        change = _asked(run, by, RunStatus.RUNNING, v.RunResumed(by=by))
        change.moves = True
        return change

    return action


def request_finish(by: str) -> Action:
    """Say that a run is to be written from what is there; asked once more it writes nothing."""

    def action(run: Run) -> Change:
        if run.ended or run.status == RunStatus.CANCELLING:
            raise _not_running(run)
        if run.cut_short:
            return Change(value=run.status)
        if Work.objects.filter(run=run, name__startswith="write:").exists():
            raise Conflict("The report is being written already.", code="too_late")
        run.cut_short = True
        return _asked(run, by, RunStatus.FINISHING, v.RunFinishing(by=by))

    return action


def finish_now(run: Run) -> Change:
    """Stop what goes on, keep what it noted, skip what has not begun: the report is next."""
    if run.status != RunStatus.FINISHING:
        return Change()
    run.status = RunStatus.RUNNING
    run.save(update_fields=["status"])
    said: list[Said] = []
    for work in Work.objects.filter(run=run, status__in=(WorkStatus.QUEUED, WorkStatus.RUNNING)):
        said += works.stop(run, work)
    for task in Task.objects.filter(run=run, status=TaskStatus.PENDING):
        task.status = TaskStatus.SKIPPED
        task.save(update_fields=["status"])
        lane = LEADER.within(stream_token=task.stream_token, step=task.step, task_id=task.task_id)
        said.append((lane, v.TaskSkipped(reason="It had not begun when the report was asked for.")))
    return Change(said, moves=True)


def stopped(run: Run) -> Change:
    """Do what a run was stopped for: end it, or go on to its report."""
    if run.status == RunStatus.CANCELLING:
        return finish_cancel(run)
    return finish_now(run)


def finish_cancel(run: Run) -> Change:
    """Close whatever is open in the log, and end the run as cancelled."""
    if run.ended:
        return Change()
    said: list[Said] = [*_close_all(run, "cancelled"), *unheard(run)]
    Work.objects.filter(run=run, status__in=(WorkStatus.QUEUED, WorkStatus.RUNNING)).update(
        status=WorkStatus.CANCELLED, ended_at=timezone.now()
    )
    Task.objects.filter(run=run, status__in=(TaskStatus.PENDING, TaskStatus.IN_PROGRESS)).update(
        status=TaskStatus.CANCELLED
    )
    _end(run, RunStatus.CANCELLED)
    return Change([*said, (LEADER, v.RunCancelled())])


def complete(gaps: list[int], partial: bool) -> Action:
    """End a run whose work is done: the whole report, then the terminal event."""

    def action(run: Run) -> Change:
        text = report_markdown(run)
        _end(run, RunStatus.COMPLETED)
        tasks = Task.objects.filter(run=run).count()
        members = Member.objects.filter(run=run).count()
        report = LEADER.within(stream_token="report")
        return Change(
            [
                *unheard(run),
                (report, v.ReportCompleted(title=run.topic[:300], text=text)),
                (LEADER, v.TeamCompleted(member_count=members, task_count=tasks)),
                (LEADER, v.RunCompleted(partial=partial, gaps=gaps)),
            ]
        )

    return action


def fail(code: str, message: str) -> Action:
    """End a run that cannot go on."""

    def action(run: Run) -> Change:
        said: list[Said] = [*_close_all(run, "failed"), *unheard(run)]
        Work.objects.filter(run=run, status=WorkStatus.QUEUED).update(
            status=WorkStatus.CANCELLED, ended_at=timezone.now()
        )
        Task.objects.filter(
            run=run, status__in=(TaskStatus.PENDING, TaskStatus.IN_PROGRESS)
        ).update(status=TaskStatus.FAILED)
        run.error_code, run.error_message = code, message
        _end(run, RunStatus.FAILED)
        return Change([*said, (LEADER, v.RunFailed(code=code, message=message))])

    return action


def report_markdown(run: Run) -> str:
    """Return the report as Markdown: the lead, then a headed part for each other section."""
    works = Work.objects.filter(run=run, name__startswith="write:", status=WorkStatus.COMPLETED)
    sections = sorted((work.output for work in works), key=lambda output: output["section"])
    parts = [
        section["text"]
        if section["kind"] == "lead"
        else f"## {section['title']}\n\n{section['text']}"
        for section in sections
        if section["text"]
    ]
    return "\n\n".join(parts)


def _asked(run: Run, by: str, status: RunStatus, data: Data) -> Change:
    """Change the status of a run as a person asked, in that person's name."""
    run.status = status
    run.save(update_fields=["status", "cut_short"])
    voice, said = person(run, by)
    return Change([*said, (voice, data)], value=run.status)


def _not_running(run: Run) -> Conflict:
    ended = "This run has ended." if run.ended else "This run is being stopped."
    return Conflict(ended, code="not_running")


def _close_all(run: Run, status: Any) -> Iterator[Said]:
    texts = (record.text for record in log.read_after(run.pk, 0, 10_000_000))
    yield from closings((decode(text) for text in texts), status)


def _end(run: Run, status: RunStatus) -> None:
    run.status, run.ended_at = status, timezone.now()
    run.save(update_fields=["status", "ended_at", "error_code", "error_message"])
    Member.objects.filter(run=run).update(status="stopped")
