"""A research request and what it is made of: works, tasks, members."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from streaming.models import Stream

from .roles import ROLES


class RunStatus(models.TextChoices):
    """Where a run stands; the last three are ends."""

    QUEUED = "queued", _("Queued")
    RUNNING = "running", _("Running")
    PAUSED = "paused", _("Paused")
    FINISHING = "finishing", _("Finishing")
    CANCELLING = "cancelling", _("Cancelling")
    COMPLETED = "completed", _("Completed")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


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

    stream = models.OneToOneField(
        Stream, models.CASCADE, verbose_name=_("log"), primary_key=True, related_name="run"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, verbose_name=_("user"), related_name="runs"
    )
    parent = models.ForeignKey(
        "self",
        models.SET_NULL,
        verbose_name=_("comes from"),
        null=True,
        blank=True,
        related_name="children",
    )
    topic = models.TextField(_("question"))
    language = models.CharField(_("language"), max_length=8, default="en")
    options = models.JSONField(_("options"), default=dict, blank=True)
    status = models.CharField(
        _("status"), max_length=12, choices=RunStatus, default=RunStatus.QUEUED
    )
    error_code = models.CharField(_("error code"), max_length=40, blank=True)
    error_message = models.TextField(_("error"), blank=True)
    cut_short = models.BooleanField(
        _("cut short"),
        default=False,
        help_text=_("Somebody asked to have it written from what was there."),
    )
    last_note = models.PositiveIntegerField(
        _("last note"), default=0, help_text=_("Numbers are never used again.")
    )
    last_source = models.PositiveIntegerField(_("last source"), default=0)
    last_citation = models.PositiveIntegerField(_("last citation"), default=0)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("run"), _("runs")
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

    QUEUED = "queued", _("Queued")
    RUNNING = "running", _("Running")
    COMPLETED = "completed", _("Completed")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


class Work(models.Model):
    """What an engine carries: `plan`, `task:3`, `write:2`, `verify`."""

    run = models.ForeignKey(Run, models.CASCADE, verbose_name=_("run"), related_name="works")
    name = models.CharField(_("name"), max_length=32)
    member = models.CharField(_("member"), max_length=64)
    status = models.CharField(
        _("status"), max_length=12, choices=WorkStatus, default=WorkStatus.QUEUED
    )
    attempt = models.PositiveIntegerField(_("attempt"), default=0)
    pauses = models.PositiveIntegerField(
        _("pauses"),
        default=0,
        help_text=_("Attempts that ended because the run was paused: the next goes on."),
    )
    input = models.JSONField(
        _("what it is to do"), default=dict, blank=True, help_text=_("What it is to do.")
    )
    talk = models.JSONField(
        _("talk"),
        null=True,
        blank=True,
        help_text=_("How far it has come with its model, while it is paused."),
    )
    output = models.JSONField(
        _("what it has made"), default=dict, blank=True, help_text=_("What it has made.")
    )
    error_code = models.CharField(_("error code"), max_length=40, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    started_at = models.DateTimeField(_("begun"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    class Meta:
        verbose_name, verbose_name_plural = _("piece of work"), _("pieces of work")
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="work_name_once_a_run"),
        ]
        indexes = [models.Index(fields=["status"], name="work_by_status")]

    def __str__(self) -> str:
        return self.name


class Steer(models.Model):
    """What a person said to the team while it worked."""

    run = models.ForeignKey(Run, models.CASCADE, verbose_name=_("run"), related_name="steers")
    number = models.PositiveIntegerField(_("number"), help_text=_("Its number in the run."))
    by = models.CharField(_("said by"), max_length=64, help_text=_("The name of who said it."))
    to = models.CharField(
        _("said to"), max_length=64, blank=True, help_text=_("A member; empty: all of them.")
    )
    text = models.TextField(_("text"))
    heard = models.JSONField(
        _("heard by"), default=list, help_text=_("The members that were asked with it.")
    )
    missed = models.BooleanField(
        _("not heard"), default=False, help_text=_("Nobody hears it any more.")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("message to the team"), _("messages to the team")
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

    PENDING = "pending", _("Waiting")
    IN_PROGRESS = "in_progress", _("In progress")
    COMPLETED = "completed", _("Completed")
    SKIPPED = "skipped", _("Skipped")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


class Task(models.Model):
    """One planned sub-question."""

    run = models.ForeignKey(Run, models.CASCADE, verbose_name=_("run"), related_name="tasks")
    task_id = models.PositiveIntegerField(
        _("number of the task"), help_text=_("Its number in the run, never used again.")
    )
    step = models.PositiveIntegerField(
        _("step"), help_text=_("Its 1-based place in the plan; may change.")
    )
    title = models.CharField(_("title"), max_length=300)
    intent = models.TextField(_("purpose"), blank=True)
    query = models.TextField(_("query"))
    status = models.CharField(
        _("status"), max_length=12, choices=TaskStatus, default=TaskStatus.PENDING
    )
    member = models.CharField(_("member"), max_length=64, blank=True)
    summary = models.TextField(_("summary"), blank=True)
    error_code = models.CharField(_("error code"), max_length=40, blank=True)

    class Meta:
        verbose_name, verbose_name_plural = _("task"), _("tasks")
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

    run = models.ForeignKey(Run, models.CASCADE, verbose_name=_("run"), related_name="members")
    name = models.CharField(_("name"), max_length=64)
    role = models.CharField(_("role"), max_length=16, choices=ROLES)
    status = models.CharField(_("status"), max_length=16, default="ready")

    class Meta:
        verbose_name, verbose_name_plural = _("member"), _("members")
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="member_name_once_a_run"),
        ]

    def __str__(self) -> str:
        return self.name
