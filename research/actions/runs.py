"""Actions on a run as a whole: start, cancel, end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils import timezone

from research.models import Member, Run, RunStatus, Task, TaskStatus, Work, WorkStatus
from streaming import log
from streaming import vocabulary as v
from streaming.events import decode
from streaming.open_set import closings

from .change import LEADER, Action, Change, Said, role_of

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
        run.status = RunStatus.CANCELLING
        run.save(update_fields=["status"])
        return Change([(LEADER, v.RunCancelling(by=by))], value=run.status)

    return action


def finish_cancel(run: Run) -> Change:
    """Close whatever is open in the log, and end the run as cancelled."""
    if run.ended:
        return Change()
    said: list[Said] = list(_close_all(run, "cancelled"))
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
                (report, v.ReportCompleted(title=run.topic[:300], text=text)),
                (LEADER, v.TeamCompleted(member_count=members, task_count=tasks)),
                (LEADER, v.RunCompleted(partial=partial, gaps=gaps)),
            ]
        )

    return action


def fail(code: str, message: str) -> Action:
    """End a run that cannot go on."""

    def action(run: Run) -> Change:
        said: list[Said] = list(_close_all(run, "failed"))
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


def _close_all(run: Run, status: Any) -> Iterator[Said]:
    texts = (record.text for record in log.read_after(run.pk, 0, 10_000_000))
    yield from closings((decode(text) for text in texts), status)


def _end(run: Run, status: RunStatus) -> None:
    run.status, run.ended_at = status, timezone.now()
    run.save(update_fields=["status", "ended_at", "error_code", "error_message"])
    Member.objects.filter(run=run).update(status="stopped")
