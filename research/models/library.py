"""The user's own documents: collections, documents, and the chunks that search finds."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _


class Archive(models.Model):
    """The text of a page or document as it was read; sources and documents share it by content."""

    hash = models.CharField(
        _("hash"),
        max_length=64,
        primary_key=True,
        help_text=_("SHA-256 of the UTF-8 text, in hex."),
    )
    text = models.TextField(
        _("text"), help_text=_("Cleaned text. Every offset counts its code points.")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("text"), _("texts")

    def __str__(self) -> str:
        return self.hash[:12]


class CollectionQuerySet(models.QuerySet["Collection"]):
    """Finds collections."""

    def readable_by(self, user: Any) -> CollectionQuerySet:
        """Return the collections whose documents this user's searches may see."""
        return self.filter(Q(owner=None) | Q(owner=user))

    def with_sizes(self) -> CollectionQuerySet:
        """Return the same, each with how many documents and characters it holds."""
        return self.annotate(
            n_documents=Count("documents"), n_chars=Coalesce(Sum("documents__chars"), 0)
        )


class Collection(models.Model):
    """A named set of documents; without an owner, everybody on this site reads it."""

    name = models.CharField(_("name"), max_length=80)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        verbose_name=_("owner"),
        null=True,
        blank=True,
        related_name="collections",
    )
    version = models.PositiveBigIntegerField(
        _("version"),
        default=0,
        help_text=_("Raised by every change of its documents; names the search index."),
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("collection"), _("collections")
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="collection_name_once"),
            models.UniqueConstraint(  # NULLs are distinct to a constraint
                fields=["name"], condition=Q(owner=None), name="shared_collection_name_once"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Document(models.Model):
    """One file of a collection."""

    collection = models.ForeignKey(
        Collection, models.CASCADE, verbose_name=_("collection"), related_name="documents"
    )
    path = models.CharField(
        _("path"), max_length=500, help_text=_("Relative to the folder that was added.")
    )
    origin = models.CharField(
        _("folder"),
        max_length=64,
        blank=True,
        help_text=_("Names the folder it was added from, if from one."),
    )
    title = models.CharField(_("title"), max_length=300)
    archive = models.ForeignKey(
        Archive, models.PROTECT, verbose_name=_("text"), related_name="documents"
    )
    file_hash = models.CharField(
        _("hash of the file"),
        max_length=64,
        help_text=_("SHA-256 of the file and of how it was read: unchanged, skipped."),
    )
    outline = models.JSONField(
        _("headings"),
        default=list,
        help_text=_("Its headings: [level, start, end], offsets in the text."),
    )
    chars = models.PositiveIntegerField(
        _("characters"), default=0, help_text=_("How long its text is.")
    )
    added_at = models.DateTimeField(_("added"), auto_now=True)

    class Meta:
        verbose_name, verbose_name_plural = _("document"), _("documents")
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "origin", "path"], name="document_path_once"
            ),
        ]
        indexes = [
            models.Index(fields=["collection", "-added_at", "-id"], name="document_newest"),
        ]

    def __str__(self) -> str:
        return self.title or self.path


class ChunkKind(models.TextChoices):
    """What a chunk was in its document."""

    PROSE = "prose", _("prose")
    ROW = "row", _("table row")


class Chunk(models.Model):
    """A passage: `document.archive.text[start:end]`, under its headings."""

    document = models.ForeignKey(
        Document, models.CASCADE, verbose_name=_("document"), related_name="chunks"
    )
    ordinal = models.PositiveIntegerField(_("number"))
    kind = models.CharField(_("kind"), max_length=8, choices=ChunkKind, default=ChunkKind.PROSE)
    headings = models.JSONField(
        _("headings"), default=list, help_text=_("From the title down to its own heading.")
    )
    start = models.PositiveIntegerField(_("start"))
    end = models.PositiveIntegerField(_("end"))

    class Meta:
        verbose_name, verbose_name_plural = _("passage"), _("passages")
        constraints = [
            models.UniqueConstraint(fields=["document", "ordinal"], name="chunk_ordinal_once"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id}#{self.ordinal}"
