"""Actions of the leader and of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from research.models import Note, Run, Source, Task, TaskStatus, Work
from research.text.markers import find_markers
from streaming import vocabulary as v
from streaming.events import Data
from streaming.text import clean

from . import notes
from .change import Action, Change, Said, task_of, voice_of
from .tools import Use
from .works import end

LENGTH = 500  # code points of an intent or a query: eight tasks are one event


class Planned(Protocol):
    """A task as a plan names it."""

    title: str
    intent: str
    query: str


def propose(work_name: str, tasks: Sequence[Planned]) -> Action:
    """Write the plan down as tasks, and end the planning."""

    def action(run: Run) -> Change:
        work = Work.objects.get(run=run, name=work_name)
        rows = Task.objects.bulk_create(
            Task(
                run=run,
                task_id=number,
                step=number,
                title=clean(task.title)[:300],
                intent=clean(task.intent)[:LENGTH],
                query=clean(task.query)[:LENGTH],
            )
            for number, task in enumerate(tasks, 1)
        )
        plan = [
            v.PlanTask(
                task_id=row.task_id,
                step=row.step,
                title=row.title,
                intent=row.intent,
                query=row.query,
            )
            for row in rows
        ]
        said: list[Said] = [(voice_of(work), v.PlanProposed(tasks=plan))]
        return Change(said + end(run, work, "completed"), moves=True)

    return action


def finish_task(work_name: str, summary: str) -> Action:
    """End a task with its summary; one without a finding is skipped, and the report tells so.

    A researcher that wrote no note has said what it found in its summary: that becomes the note.
    """

    def action(run: Run) -> Change:
        work = Work.objects.get(run=run, name=work_name)
        task = task_of(work)
        assert task is not None
        voice = voice_of(work, task)
        mine = [
            source.source_id
            for source in Source.objects.filter(run=run)
            if any(finder == work.name for finder, _ in source.finders)
        ]
        said: list[Said] = []
        note = Note.objects.filter(run=run, task=task).order_by("note_id").first()
        if note is None and any(marked.marker.source in mine for marked in find_markers(summary)):
            use = Use(f"summary_{work.name}_{work.attempt}", "note", voice)
            note, said = notes.create(run, use, task.title, clean(summary), "conclusion", ())
        result: Data
        if note and mine:
            task.status, task.summary = TaskStatus.COMPLETED, clean(summary)
            result = v.TaskCompleted(
                summary=task.summary[:4000], source_ids=mine, note_id=note.note_id
            )
        else:
            task.status = TaskStatus.SKIPPED
            reason = "Nothing that was found answers it." if mine else "Nothing was found."
            result = v.TaskSkipped(reason=reason)
        task.save(update_fields=["status", "summary"])
        said.append((voice, result))
        return Change(said + end(run, work, "completed"), moves=True)

    return action
