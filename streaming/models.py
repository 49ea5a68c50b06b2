"""The rows of the log: streams, their events, fences and long texts."""

import secrets
import uuid

from django.db import models


def new_epoch() -> str:
    """Return a name for a log's present history; a restored log gets another one."""
    return "e" + secrets.token_hex(4)


class Stream(models.Model):
    """One log. Its row is the lock under which `seq` is given."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    epoch = models.CharField(max_length=16, default=new_epoch, editable=False)
    head = models.PositiveBigIntegerField(default=0, editable=False)
    closed = models.BooleanField(default=False, editable=False)

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
        Stream, models.CASCADE, related_name="events", db_index=False, db_constraint=False
    )
    seq = models.PositiveBigIntegerField()
    type = models.CharField(max_length=80)
    stream_token = models.CharField(max_length=64, blank=True)
    source_member = models.CharField(max_length=64, blank=True)
    work = models.CharField(max_length=32, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    text = models.TextField(help_text="The event as JSON, exactly as every native client gets it.")

    class Meta:
        verbose_name = "event"
        constraints = [
            models.UniqueConstraint(fields=["stream", "seq"], name="event_seq_once_a_stream"),
        ]
        indexes = [models.Index(fields=["stream", "work", "seq"], name="event_by_work")]

    def __str__(self) -> str:
        return f"{self.seq} {self.type}"


class Fence(models.Model):
    """Who may write for a piece of work: only the holder of the highest token."""

    stream = models.ForeignKey(Stream, models.CASCADE, related_name="fences")
    name = models.CharField(max_length=64)
    token = models.PositiveBigIntegerField(default=0)
    rows = models.PositiveBigIntegerField(
        default=0, help_text="How many events came through it: tells whether a commit arrived."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stream", "name"], name="fence_name_once_a_stream"),
        ]

    def __str__(self) -> str:
        return f"{self.name}#{self.token}"


class Blob(models.Model):
    """A text too long for an event, addressed by its content."""

    stream = models.ForeignKey(Stream, models.CASCADE, related_name="blobs", db_index=False)
    hash = models.CharField(max_length=64, help_text="SHA-256 of the UTF-8 text, in hex.")
    text = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stream", "hash"], name="blob_once_a_stream"),
        ]

    def __str__(self) -> str:
        return self.hash[:12]
