"""The rows of the log: streams, their events, fences and long texts."""

import secrets
import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _


def new_epoch() -> str:
    """Return a name for a log's present history; a restored log gets another one."""
    return "e" + secrets.token_hex(4)


class Stream(models.Model):
    """One log. Its row is the lock under which `seq` is given."""

    id = models.UUIDField(_("id"), primary_key=True, default=uuid.uuid4, editable=False)
    epoch = models.CharField(_("epoch"), max_length=16, default=new_epoch, editable=False)
    head = models.PositiveBigIntegerField(_("last number"), default=0, editable=False)
    closed = models.BooleanField(_("closed"), default=False, editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("log"), _("logs")

    def __str__(self) -> str:
        return f"{self.id} ({self.epoch}:{self.head})"

    @property
    def cursor(self) -> str:
        """Return the cursor that stands behind the last event."""
        return f"{self.epoch}:{self.head}"


class EventRow(models.Model):
    """One event, as it was encoded once; the other columns serve filters and look-ups."""

    # The stream's row is locked whenever an event is inserted: checking it for each row again
    # would cost a fifth of the insert.
    stream = models.ForeignKey(
        Stream,
        models.CASCADE,
        verbose_name=_("log"),
        related_name="events",
        db_index=False,
        db_constraint=False,
    )
    seq = models.PositiveBigIntegerField(_("number"))
    type = models.CharField(_("type"), max_length=80)
    stream_token = models.CharField(_("lane"), max_length=64, blank=True)
    source_member = models.CharField(_("member"), max_length=64, blank=True)
    work = models.CharField(_("work"), max_length=32, blank=True)
    attempt = models.PositiveIntegerField(_("attempt"), default=0)
    text = models.TextField(
        _("text"), help_text=_("The event as JSON, exactly as every native client gets it.")
    )

    class Meta:
        verbose_name, verbose_name_plural = _("event"), _("events")
        constraints = [
            models.UniqueConstraint(fields=["stream", "seq"], name="event_seq_once_a_stream"),
        ]
        indexes = [models.Index(fields=["stream", "work", "seq"], name="event_by_work")]

    def __str__(self) -> str:
        return f"{self.seq} {self.type}"


class Fence(models.Model):
    """Who may write for a piece of work: only the holder of the highest token."""

    stream = models.ForeignKey(Stream, models.CASCADE, verbose_name=_("log"), related_name="fences")
    name = models.CharField(_("name"), max_length=64)
    token = models.PositiveBigIntegerField(_("token"), default=0)
    rows = models.PositiveBigIntegerField(
        _("events"),
        default=0,
        help_text=_("How many events came through it: tells whether a commit arrived."),
    )

    class Meta:
        verbose_name, verbose_name_plural = _("fence"), _("fences")
        constraints = [
            models.UniqueConstraint(fields=["stream", "name"], name="fence_name_once_a_stream"),
        ]

    def __str__(self) -> str:
        return f"{self.name}#{self.token}"


class Blob(models.Model):
    """A text too long for an event, addressed by its content."""

    stream = models.ForeignKey(
        Stream, models.CASCADE, verbose_name=_("log"), related_name="blobs", db_index=False
    )
    hash = models.CharField(
        _("hash"), max_length=64, help_text=_("SHA-256 of the UTF-8 text, in hex.")
    )
    text = models.TextField(_("text"))

    class Meta:
        verbose_name, verbose_name_plural = _("long text"), _("long texts")
        constraints = [
            models.UniqueConstraint(fields=["stream", "hash"], name="blob_once_a_stream"),
        ]

    def __str__(self) -> str:
        return self.hash[:12]
