"""Actions on what people say to the team while it works.

A steer is in every prompt of those it is addressed to, from the next one on. One that nobody hears
any more is told: at once where that is known, else when the run ends.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from research.models import Member, Run, RunStatus, Steer, Task, TaskStatus, Work, WorkStatus
from streaming import vocabulary as v
from streaming.exceptions import BadRequest, Conflict, NotFound
from streaming.members import Role
from streaming.text import clean

from .change import LEADER, Action, Change, Said, task_of, voice_of
from .people import person

LENGTH = 4_000  # code points
MOST = 100  # steers of one run: all of them are in the prompts that come
ACTIVE = (WorkStatus.QUEUED, WorkStatus.RUNNING)
UNDER_WAY = (RunStatus.RUNNING, RunStatus.PAUSED, RunStatus.FINISHING)
TEAM = (Role.LEADER, Role.TEAMMATE)
BY_RULE = "verifier"  # asks no model


@dataclass(frozen=True, slots=True)
class Told:
    """A steer as those who are asked with it are told."""

    number: int
    by: str
    text: str


def cleaned(text: str) -> str:
    """Return what a person wrote; `BadRequest` where that is nothing, or too much."""
    text = clean(text).replace("\r\n", "\n").strip()
    if not text:
        raise BadRequest("Write what the team is to do.", code="empty_text")
    if len(text) > LENGTH:
        raise BadRequest(f"A message has at most {LENGTH} characters.", code="too_long")
    return text


def steer(by: str, text: str, to: str = "") -> Action:
    """Say something to a member, or to all of them; the answer is the steer."""

    def action(run: Run) -> Change:
        if run.status not in UNDER_WAY:
            raise Conflict("This run has ended, or is being stopped.", code="not_running")
        if to and not Member.objects.filter(run=run, name=to, role__in=TEAM).exists():
            raise NotFound(f"There is no member {to[:64]!r}.", code="no_member")
        number = Steer.objects.filter(run=run).count() + 1
        if number > MOST:
            raise Conflict(f"A run takes at most {MOST} messages.", code="too_many_steers")
        voice, said = person(run, by)
        row = Steer(run=run, number=number, by=voice.source_member or "", to=to, text=text)
        row.missed = not _may_hear(run, to)
        row.save()
        said.append((voice, v.InputReceived(input_id=row.input_id, text=text, to=to or None)))
        if row.missed:
            said.append(_missed(row))
        return Change(said, row)

    return action


def waits(run_id: UUID, member: str, known: Collection[int]) -> bool:
    """Tell whether something was said to a member that it does not know of."""
    return _said_to(run_id, member, known).exists()


def hear(work_name: str, known: Collection[int]) -> Action:
    """Tell a member what was said to it besides what it knows; the answer is that."""

    def action(run: Run) -> Change:
        work = Work.objects.get(run=run, name=work_name)
        rows = _said_to(run.pk, work.member, known)
        said: list[Said] = []
        for row in rows:
            if work.member not in row.heard:
                row.heard = [*row.heard, work.member]
                row.save(update_fields=["heard"])
                voice = voice_of(work, task_of(work))
                said.append((voice, v.InputHeard(input_id=row.input_id)))
        return Change(said, [Told(row.number, row.by, row.text) for row in rows])

    return action


def unheard(run: Run) -> list[Said]:
    """Say of what nobody has heard that nobody will: the run ends."""
    rows = Steer.objects.filter(run=run, heard=[], missed=False)
    said = [_missed(row) for row in rows]
    rows.update(missed=True)
    return said


def _said_to(run_id: UUID, member: str, known: Collection[int]) -> QuerySet[Steer]:
    """Return what a member is told besides what it knows; what was given up stays so."""
    rows = Steer.objects.filter(run_id=run_id, to__in=("", member), missed=False)
    return rows.exclude(number__in=known)


def _missed(row: Steer) -> Said:
    who = row.to or "Nobody of the team"
    reason = f"{who} is not asked again, and does not hear it."
    return LEADER, v.TeamInteractFailed(reason=reason, input_id=row.input_id)


def _may_hear(run: Run, to: str) -> bool:
    """Tell whether a member may still be asked something; `to` is "" for any of them."""
    works = Work.objects.filter(run=run)
    if works.filter(name="verify").exists() or to == BY_RULE:
        return False
    if not to or to == "writer" or works.filter(name="plan", status__in=ACTIVE).exists():
        return True
    if works.filter(member=to, status__in=ACTIVE).exists():
        return True
    waiting = Task.objects.filter(run=run, status=TaskStatus.PENDING)
    return to.startswith("researcher-") and waiting.exists() and not run.cut_short
