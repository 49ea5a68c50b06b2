"""next_work: what a run does next. A pure function of its rows.

A run that goes on after a crash and one that runs for the first time ask the same question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

ENDED = ("completed", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class WorkFacts:
    """What matters of a Work row."""

    name: str
    status: str
    member: str
    code: str = ""  # why it failed
    message: str | None = None

    @property
    def kind(self) -> str:
        """Return `plan`, `task`, `write` or `verify`."""
        return self.name.partition(":")[0]


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What matters of a Task row."""

    task_id: int
    step: int
    title: str
    intent: str
    status: str
    noted: bool = False  # whether there is anything to write from

    @property
    def brought(self) -> bool:
        """Tell whether it has found something; one that was stopped has found what it noted."""
        return self.status == "completed" or (self.status == "cancelled" and self.noted)


@dataclass(frozen=True, slots=True)
class NewWork:
    """Work to be queued, and the free member who is to do it."""

    name: str
    member: str
    input: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finish:
    """Nothing is left to do: the run ends."""

    completed: bool
    gaps: list[int] = field(default_factory=list)
    partial: bool = False
    code: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the report."""

    kind: str
    title: str
    intent: str
    task_id: int | None


@dataclass(frozen=True, slots=True)
class Titles:
    """What sections are called that no task gives its name to, in the report's language."""

    lead: str
    detail: str


def next_work(
    researchers: Sequence[str],
    works: Sequence[WorkFacts],
    tasks: Sequence[TaskFacts],
    titles: Titles,
) -> list[NewWork] | Finish:
    """Return the work that can begin now (none while others still work), or the end."""
    by_name = {work.name: work for work in works}
    plan = by_name.get("plan")
    if plan is None:
        return [NewWork("plan", "leader")]
    if plan.status == "failed":
        return _failure(plan, "plan_failed", "No plan could be made.")
    if plan.status not in ENDED:
        return []

    under_way = {work.name for work in works if work.status not in ENDED}
    waiting = [
        task
        for task in tasks
        if task.status == "pending" and f"task:{task.task_id}" not in under_way
    ]
    busy = {work.member for work in works if work.kind == "task" and work.status not in ENDED}
    if waiting:
        free = [name for name in researchers if name not in busy]
        in_order = sorted(waiting, key=lambda task: task.step)
        return [
            NewWork(f"task:{task.task_id}", member)
            for task, member in zip(in_order, free, strict=False)
        ]
    if busy:
        return []

    if tasks and all(task.status == "failed" and not task.noted for task in tasks):
        return _failure(
            by_name[f"task:{tasks[0].task_id}"], "research_failed", "Every task failed."
        )

    sections = outline(tasks, titles)
    written = [work for work in works if work.kind == "write"]
    if any(work.status not in ENDED for work in written):
        return []
    if len(written) < len(sections):
        number = len(written) + 1
        section = sections[number - 1]
        brief = {
            "section": number,
            "count": len(sections),
            "kind": section.kind,
            "title": section.title,
            "intent": section.intent,
            "task_id": section.task_id,
        }
        return [NewWork(f"write:{number}", "writer", brief)]
    if all(work.status != "completed" for work in written):
        return _failure(written[-1], "report_failed", "No part of the report could be written.")

    verify = by_name.get("verify")
    if verify is None:
        return [NewWork("verify", "verifier")]
    if verify.status not in ENDED:
        return []
    gaps = [task.task_id for task in tasks if not task.brought]
    partial = any(work.status in ("failed", "cancelled") for work in works)
    return Finish(True, gaps=gaps, partial=partial)


def _failure(work: WorkFacts, code: str, message: str) -> Finish:
    """Return the end of a run that cannot go on, and why: what its work failed of."""
    return Finish(False, code=work.code or code, message=work.message or message)


def outline(tasks: Sequence[TaskFacts], titles: Titles) -> list[Section]:
    """Return the sections of the report: the answer first, then each task that found something."""
    lead = Section("lead", titles.lead, "Answer the question.", None)
    found = sorted((task for task in tasks if task.brought), key=lambda t: t.step)
    if len(tasks) == 1:  # its title is the report's own
        return [lead, *(Section("task", titles.detail, t.intent, t.task_id) for t in found)]
    return [lead, *(Section("task", t.title, t.intent, t.task_id) for t in found)]
