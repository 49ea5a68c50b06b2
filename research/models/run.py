"""A research request and what it is made of: works, tasks, members."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from streaming.members import Role
from streaming.models import Stream


class RunStatus(models.TextChoices):
    """Where a run stands; the last three are ends."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHING = "finishing"
    CANCELLING = "cancelling"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


RUN_ENDS = (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)


class RunQuerySet(models.QuerySet["Run"]):
    """Finds runs."""

    def active(self) -> RunQuerySet:
        """Return the runs that have not ended."""
        return self.exclude(status__in=RUN_ENDS)

    def visible_to(self, user: Any) -> RunQuerySet:
        """Return the runs that this user may watch."""
        return self.filter(user=user)


class Run(models.Model):
    """One research request. Its id is its stream's."""

    stream = models.OneToOneField(Stream, models.CASCADE, primary_key=True, related_name="run")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="runs")
    parent = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="children"
    )
    topic = models.TextField()
    language = models.CharField(max_length=8, default="en")
    options = models.JSONField(default=dict, blank=True)
    status = models.CharField(max_length=12, choices=RunStatus, default=RunStatus.QUEUED)
    error_code = models.CharField(max_length=40, blank=True)
    error_message = models.TextField(blank=True)
    cut_short = models.BooleanField(
        default=False, help_text="Somebody asked to have it written from what was there."
    )
    last_note = models.PositiveIntegerField(default=0, help_text="Numbers are never used again.")
    last_source = models.PositiveIntegerField(default=0)
    last_citation = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["user", "-created_at"], name="run_by_user")]

    def __str__(self) -> str:
        return self.topic[:80]

    @property
    def ended(self) -> bool:
        """Tell whether the terminal event is written."""
        return self.status in RUN_ENDS


class WorkStatus(models.TextChoices):
    """Where a piece of work stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Work(models.Model):
    """What an engine carries: `plan`, `task:3`, `write:2`, `verify`."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="works")
    name = models.CharField(max_length=32)
    member = models.CharField(max_length=64)
    status = models.CharField(max_length=12, choices=WorkStatus, default=WorkStatus.QUEUED)
    attempt = models.PositiveIntegerField(default=0)
    pauses = models.PositiveIntegerField(
        default=0, help_text="Attempts that ended because the run was paused: the next goes on."
    )
    input = models.JSONField(default=dict, blank=True, help_text="What it is to do.")
    talk = models.JSONField(
        null=True, blank=True, help_text="How far it has come with its model, while it is paused."
    )
    output = models.JSONField(default=dict, blank=True, help_text="What it has made.")
    error_code = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="work_name_once_a_run"),
        ]
        indexes = [models.Index(fields=["status"], name="work_by_status")]

    def __str__(self) -> str:
        return self.name


class Steer(models.Model):
    """What a person said to the team while it worked."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="steers")
    number = models.PositiveIntegerField(help_text="Its number in the run.")
    by = models.CharField(max_length=64, help_text="The name of who said it.")
    to = models.CharField(max_length=64, blank=True, help_text="A member; empty: all of them.")
    text = models.TextField()
    heard = models.JSONField(default=list, help_text="The members that were asked with it.")
    missed = models.BooleanField(default=False, help_text="Nobody hears it any more.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="steer_number_once_a_run"),
        ]

    def __str__(self) -> str:
        return self.text[:80]

    @property
    def input_id(self) -> str:
        """Return what events call it by."""
        return f"steer_{self.number}"


class TaskStatus(models.TextChoices):
    """Where a task stands."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress", "in progress"
    COMPLETED = "completed"
    SKIPPED = "skipped"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Task(models.Model):
    """One planned sub-question."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="tasks")
    task_id = models.PositiveIntegerField(help_text="Its number in the run, never used again.")
    step = models.PositiveIntegerField(help_text="Its 1-based place in the plan; may change.")
    title = models.CharField(max_length=300)
    intent = models.TextField(blank=True)
    query = models.TextField()
    status = models.CharField(max_length=12, choices=TaskStatus, default=TaskStatus.PENDING)
    member = models.CharField(max_length=64, blank=True)
    summary = models.TextField(blank=True)
    error_code = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["step"]
        constraints = [
            models.UniqueConstraint(fields=["run", "task_id"], name="task_id_once_a_run"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def stream_token(self) -> str:
        """Return the name of its lane."""
        return f"task_{self.task_id}"


class Member(models.Model):
    """Who speaks in a run."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="members")
    name = models.CharField(max_length=64)
    role = models.CharField(max_length=16, choices=[(role.value, role.value) for role in Role])
    status = models.CharField(max_length=16, default="ready")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="member_name_once_a_run"),
        ]

    def __str__(self) -> str:
        return self.name
