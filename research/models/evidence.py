"""What the team did and found: tool calls, notes, sources, citations."""

from django.db import models

from .library import Archive, Document
from .run import Run, Task


class ToolCall(models.Model):
    """One use of a tool, keyed by our own id (ids that models give are not unique)."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="tool_calls")
    tool_call_id = models.CharField(max_length=64)
    task = models.ForeignKey(Task, models.CASCADE, null=True, related_name="tool_calls")
    member = models.CharField(max_length=64)
    work = models.CharField(max_length=32)
    attempt = models.PositiveIntegerField()
    tool = models.CharField(max_length=64)
    args = models.JSONField(default=dict)
    status = models.CharField(max_length=16, default="running")
    result = models.TextField(blank=True)
    duration_ms = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "tool call"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "tool_call_id"], name="tool_call_once_a_run"),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.tool_call_id}"


class Note(models.Model):
    """What a member wrote down."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="notes")
    note_id = models.PositiveIntegerField(help_text="Its number in the run.")
    task = models.ForeignKey(Task, models.CASCADE, null=True, related_name="notes")
    member = models.CharField(max_length=64)
    work = models.CharField(max_length=32)
    attempt = models.PositiveIntegerField()
    title = models.CharField(max_length=300)
    note_type = models.CharField(max_length=32, default="general")
    tags = models.JSONField(default=list)
    content = models.TextField()
    tool_call_id = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["note_id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "note_id"], name="note_id_once_a_run"),
        ]

    def __str__(self) -> str:
        return self.title


class Source(models.Model):
    """A page, document or result that a run found."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="sources")
    source_id = models.PositiveIntegerField(help_text="Its number in the run: `[S<id>]`.")
    task = models.ForeignKey(Task, models.SET_NULL, null=True, related_name="sources")
    member = models.CharField(max_length=64, help_text="Who brought it in first.")
    finders = models.JSONField(
        default=list,
        help_text="The attempts that found it, as [work, attempt]; none left, none here.",
    )
    provider = models.CharField(max_length=32)
    title = models.CharField(max_length=300)
    uri = models.CharField(max_length=2000)
    archive = models.ForeignKey(Archive, models.PROTECT, null=True, related_name="sources")
    document = models.ForeignKey(Document, models.SET_NULL, null=True, related_name="sources")
    fetched_at = models.DateTimeField(
        null=True, help_text="When the page itself was read; until then the text is a glimpse."
    )
    media_type = models.CharField(max_length=100, blank=True)
    published = models.CharField(max_length=10, blank=True, help_text="A date, where one is known.")
    site = models.CharField(max_length=200, blank=True)
    aliases = models.JSONField(default=list, help_text="URLs that lead here too.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["source_id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "source_id"], name="source_id_once_a_run"),
            models.UniqueConstraint(fields=["run", "uri"], name="source_uri_once_a_run"),
        ]

    def __str__(self) -> str:
        return self.title


class Citation(models.Model):
    """A claim in the report, tied to a quote in a source."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="citations")
    number = models.PositiveIntegerField(help_text="As the report shows it.")
    section = models.PositiveIntegerField()
    source = models.ForeignKey(Source, models.CASCADE, related_name="citations")
    claim = models.TextField()
    quote = models.TextField()
    start = models.PositiveIntegerField(null=True)
    end = models.PositiveIntegerField(null=True)
    archive_hash = models.CharField(max_length=64)
    verdict = models.CharField(max_length=16, blank=True)
    member = models.CharField(max_length=64, blank=True, help_text="Who brought the source in.")

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="citation_number_once_a_run"),
        ]

    def __str__(self) -> str:
        return f"[{self.number}]"
