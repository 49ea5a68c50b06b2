"""The one door through which a run changes: `apply(action)`.

In one transaction, under the stream's lock: the action, its events, and whatever work may begin
because of it. Two tasks that end together cannot both think that the other still runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef
from django.dispatch import Signal

from research.actions import runs
from research.actions.change import Action, Said
from research.actions.works import try_again
from research.models import Command, Note, Run, RunStatus, Task, TaskStatus, Work, WorkStatus
from research.options import RunOptions
from research.team.plan import PlannedTask
from research.team.words import word
from research.text.language import language
from streaming import runtime
from streaming.events import draft
from streaming.exceptions import BadRequest, Conflict, NotFound
from streaming.log import Appender, Claim
from streaming.models import Stream
from streaming.text import clean

from .next_work import Finish, TaskFacts, Titles, WorkFacts, next_work

T = TypeVar("T")
UNTRIED: dict[str, Any] = {"output": {}, "error_code": "", "ended_at": None}

news = Signal()
"""Sent after a commit that an engine should look at: work is queued, a run is to be cancelled."""

TOPIC_LENGTH = 10_000  # code points: whatever they are, the first event holds them


@dataclass(frozen=True, slots=True)
class Started:
    """A run that was asked for, and whether it had been asked for before."""

    run: Run
    duplicate: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """The answer of an action, and where its own last event stands in the log."""

    value: Any
    cursor: str
    seq: int


def apply(run_id: UUID, action: Action, claim: Claim | None = None) -> Applied:
    """Run an action, write its events, release what follows."""
    with transaction.atomic():
        appender = Appender(run_id)
        if claim:
            appender.check(claim)
        run = Run.objects.get(pk=run_id)
        change = action(run)
        _say(appender, change.said, claim)
        applied = Applied(change.value, appender.cursor, appender.head)
        if change.moves and run.status == RunStatus.RUNNING:
            appender.save()  # an end of the run closes what the log, as it stands, leaves open
            _move(run, appender)
        appender.save()
        transaction.on_commit(_tell_engines, robust=True)
    return applied


def do(function: Callable[[], T]) -> T:
    """Run a function that writes: on the writer's thread where this process has one.

    On SQLite a second writer would wait long behind a busy one.
    """
    running = runtime.current()
    if running is None or running.writer.is_own_thread() or connection.in_atomic_block:
        return function()
    return running.writer.call_blocking(function)


def start_run(
    user: Any,
    topic: str,
    options: RunOptions | None = None,
    key: str | None = None,
    parent: Run | None = None,
    plan: Sequence[PlannedTask] | None = None,
) -> Started:
    """Create a run and queue its first work. The same user and key give the same run again.

    With a `parent` it follows that run; with a `plan` nobody is asked for one. Raises `BadRequest`
    for a topic or collection that cannot be used, and `Conflict` for a key that was used for
    something else.
    """
    topic = clean(topic).strip()
    if not topic:
        raise BadRequest("Ask a question.", code="empty_topic")
    if len(topic) > TOPIC_LENGTH:
        raise BadRequest(f"A question has at most {TOPIC_LENGTH} characters.", code="too_long")
    chosen = (options or RunOptions()).resolved(user)
    seed = [task.model_dump() for task in plan or ()]
    create = partial(_create, user, topic, chosen, key, parent, seed)
    try:
        return do(create)
    except IntegrityError:  # another process was faster with the same key
        return do(create)


def cancel_run(run_id: UUID, by: str) -> Applied:
    """Ask for a run to be cancelled; the answer is its status. An engine does it in two seconds."""
    return do(partial(apply, run_id, runs.request_cancel(by)))


def rerun(run: Run, user: Any, key: str | None = None) -> Started:
    """Ask the same again, as a child of a run that has ended; `Conflict` while it goes on."""
    if not run.ended:
        raise Conflict("This run goes on still.", code="still_running")
    options = RunOptions.model_validate(run.options)
    return start_run(user, run.topic, options, key, parent=run)


def retry_task(run: Run, task_id: int, user: Any, key: str | None = None) -> Started:
    """Do a task again that brought nothing: in a child run with that one task after the end.

    While the run goes on a failed task is queued once more in place; the answer is the same run.
    `NotFound` where there is no such task, `Conflict` where it cannot be done again (now).
    """
    task = Task.objects.filter(run=run, task_id=task_id).first()
    if task is None:
        raise NotFound("There is no such task.", code="no_task")
    if not run.ended:
        do(partial(apply, run.pk, try_again(task_id)))
        return Started(run)
    if task.status == TaskStatus.COMPLETED:
        raise Conflict("This task has brought what it was for.", code="not_failed")
    again = PlannedTask(title=task.title, intent=task.intent, query=task.query)
    options = RunOptions.model_validate(run.options)
    return start_run(user, run.topic, options, key, parent=run, plan=[again])


def _create(
    user: Any,
    topic: str,
    options: RunOptions,
    key: str | None,
    parent: Run | None,
    seed: list[dict[str, Any]],
) -> Started:
    asked = json.dumps(
        [topic, options.model_dump(mode="json"), str(parent and parent.pk), seed], sort_keys=True
    )
    request_hash = hashlib.sha256(asked.encode()).hexdigest()
    with transaction.atomic():
        if key and (before := Command.objects.filter(user=user, key=key).first()):
            if before.type != "start" or before.request_hash != request_hash or not before.run:
                raise Conflict("This key was used for something else.", code="key_reused")
            return Started(before.run, duplicate=True)
        stream = Stream.objects.create()
        run = Run.objects.create(
            stream=stream,
            user=user,
            parent=parent,
            topic=topic,
            language=language(topic),
            options=options.model_dump(mode="json", exclude_none=True),
            status=RunStatus.RUNNING,
        )
        if key:
            Command.objects.create(
                user=user, key=key, type="start", request_hash=request_hash, run=run
            )
        appender = Appender(stream.pk)
        if seed:
            Work.objects.create(run=run, name="plan", member="leader", input={"tasks": seed})
        _say(appender, runs.start(run).said)
        _move(run, appender)
        appender.save()
        transaction.on_commit(_tell_engines, robust=True)
    return Started(run)


def _move(run: Run, appender: Appender) -> None:
    """Queue the work that can begin now, or end the run."""
    facts = ("name", "status", "member", "error_code", "output__error")
    works = [WorkFacts(*row) for row in run.works.values_list(*facts)]
    noted = Exists(Note.objects.filter(task=OuterRef("pk")))
    rows = Task.objects.filter(run=run).annotate(noted=noted)
    facts_of_tasks = ("task_id", "step", "title", "intent", "status", "noted")
    tasks = [TaskFacts(*row) for row in rows.values_list(*facts_of_tasks)]
    names = [name for name in runs.team_names(run.options) if name.startswith("researcher-")]
    titles = Titles(word("lead", run.language), word("detail", run.language))
    todo = next_work(names, works, tasks, titles)
    if isinstance(todo, Finish):
        ending = (
            runs.complete(todo.gaps, todo.partial or run.cut_short)
            if todo.completed
            else runs.fail(todo.code, todo.message)
        )
        _say(appender, ending(run).said)
        return
    for new in todo:  # work that was begun before is queued again, its attempts go on counting
        fresh = {"member": new.member, "input": new.input, "status": WorkStatus.QUEUED}
        Work.objects.update_or_create(run=run, name=new.name, defaults={**fresh, **UNTRIED})


def _say(appender: Appender, said: Sequence[Said], claim: Claim | None = None) -> None:
    limit = appender.event_bytes
    appender.add([draft(voice, data, limit=limit) for voice, data in said], claim)


def _tell_engines() -> None:
    news.send_robust(sender=None)
