"""What the team did and found: tool calls, notes, sources, citations."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from .library import Archive, Document
from .run import Run, Task


class ToolCall(models.Model):
    """One use of a tool, keyed by our own id (ids that models give are not unique)."""

    run = models.ForeignKey(Run, models.CASCADE, verbose_name=_("run"), related_name="tool_calls")
    tool_call_id = models.CharField(_("id of the call"), max_length=64)
    task = models.ForeignKey(
        Task, models.CASCADE, verbose_name=_("task"), null=True, related_name="tool_calls"
    )
    member = models.CharField(_("member"), max_length=64)
    work = models.CharField(_("work"), max_length=32)
    attempt = models.PositiveIntegerField(_("attempt"))
    tool = models.CharField(_("tool"), max_length=64)
    args = models.JSONField(_("arguments"), default=dict)
    status = models.CharField(_("status"), max_length=16, default="running")
    result = models.TextField(_("result"), blank=True)
    duration_ms = models.PositiveIntegerField(_("milliseconds"), null=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("tool call"), _("tool calls")
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "tool_call_id"], name="tool_call_once_a_run"),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.tool_call_id}"


class Note(models.Model):
    """What a member wrote down."""

    run = models.ForeignKey(Run, models.CASCADE, verbose_name=_("run"), related_name="notes")
    note_id = models.PositiveIntegerField(
        _("number of the note"), help_text=_("Its number in the run.")
    )
    task = models.ForeignKey(
        Task, models.CASCADE, verbose_name=_("task"), null=True, related_name="notes"
    )
    member = models.CharField(_("member"), max_length=64)
    work = models.CharField(_("work"), max_length=32)
    attempt = models.PositiveIntegerField(_("attempt"))
    title = models.CharField(_("title"), max_length=300)
    note_type = models.CharField(_("kind"), max_length=32, default="general")
    tags = models.JSONField(_("tags"), default=list)
    content = models.TextField(_("text"))
    tool_call_id = models.CharField(_("id of the call"), max_length=64, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name, verbose_name_plural = _("note"), _("notes")
        ordering = ["note_id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "note_id"], name="note_id_once_a_run"),
        ]

    def __str__(self) -> str:
        return self.title


class Source(models.Model):
    """A page, document or result that a run found."""

    run = models.ForeignKey(Run, models.CASCADE, verbose_name=_("run"), related_name="sources")
    source_id = models.PositiveIntegerField(
        _("number of the source"), help_text=_("Its number in the run: `[S<id>]`.")
    )
    task = models.ForeignKey(
        Task, models.SET_NULL, verbose_name=_("task"), null=True, related_name="sources"
    )
    member = models.CharField(_("member"), max_length=64, help_text=_("Who brought it in first."))
    finders = models.JSONField(
        _("found by"),
        default=list,
        help_text=_("The attempts that found it, as [work, attempt]; none left, none here."),
    )
    provider = models.CharField(_("provider"), max_length=32)
    title = models.CharField(_("title"), max_length=300)
    uri = models.CharField(_("address"), max_length=2000)
    archive = models.ForeignKey(
        Archive, models.PROTECT, verbose_name=_("text"), null=True, related_name="sources"
    )
    document = models.ForeignKey(
        Document, models.SET_NULL, verbose_name=_("document"), null=True, related_name="sources"
    )
    fetched_at = models.DateTimeField(
        _("read"),
        null=True,
        help_text=_("When the page itself was read; until then the text is a glimpse."),
    )
    media_type = models.CharField(_("media type"), max_length=100, blank=True)
    published = models.CharField(
        _("published"), max_length=10, blank=True, help_text=_("A date, where one is known.")
    )
    site = models.CharField(_("site"), max_length=200, blank=True)
    aliases = models.JSONField(
        _("other addresses"), default=list, help_text=_("URLs that lead here too.")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("source"), _("sources")
        ordering = ["source_id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "source_id"], name="source_id_once_a_run"),
            models.UniqueConstraint(fields=["run", "uri"], name="source_uri_once_a_run"),
        ]

    def __str__(self) -> str:
        return self.title


class Citation(models.Model):
    """A claim in the report, tied to a quote in a source."""

    run = models.ForeignKey(Run, models.CASCADE, verbose_name=_("run"), related_name="citations")
    number = models.PositiveIntegerField(_("number"), help_text=_("As the report shows it."))
    section = models.PositiveIntegerField(_("section"))
    source = models.ForeignKey(
        Source, models.CASCADE, verbose_name=_("source"), related_name="citations"
    )
    claim = models.TextField(_("claim"))
    quote = models.TextField(_("quote"))
    start = models.PositiveIntegerField(_("start"), null=True)
    end = models.PositiveIntegerField(_("end"), null=True)
    archive_hash = models.CharField(_("hash of the text"), max_length=64)
    verdict = models.CharField(_("verdict"), max_length=16, blank=True)
    member = models.CharField(
        _("member"), max_length=64, blank=True, help_text=_("Who brought the source in.")
    )

    class Meta:
        verbose_name, verbose_name_plural = _("citation"), _("citations")
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="citation_number_once_a_run"),
        ]

    def __str__(self) -> str:
        return f"[{self.number}]"
