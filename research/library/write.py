"""Write documents that were read, their texts and their passages, in one transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import F, ProtectedError
from django.utils import timezone

from research.library.chunks import passages
from research.library.page import Page
from research.models.library import Archive, Chunk, Collection, Document

BATCH_CHARS = 500_000
BATCH_DOCUMENTS = 50
"""What one transaction writes: a server on the same SQLite file waits for it."""


@dataclass(frozen=True, slots=True)
class Read:
    """A file that was read; `file_hash` tells it from any other, and from another way to read."""

    name: str
    file_hash: str
    page: Page


@dataclass(frozen=True, slots=True)
class Written:
    """A document as it is now in the collection, and whether it took the place of another."""

    document_id: int
    replaced: bool


def raise_version(collection_id: int) -> None:
    """Tell that the documents of a collection are others than before."""
    Collection.objects.filter(pk=collection_id).update(version=F("version") + 1)


def digest(text: str) -> str:
    """Return what a text is known by."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def batches(reads: Iterable[Read]) -> Iterator[list[Read]]:
    """Yield the files in batches that are written at once."""
    batch: list[Read] = []
    size = 0
    for one in reads:
        batch.append(one)
        size += len(one.page.text)
        if size >= BATCH_CHARS or len(batch) >= BATCH_DOCUMENTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def write(collection: Collection, origin: str, batch: Sequence[Read]) -> dict[str, Written]:
    """Write a batch of documents; return what became of each, by its name.

    Of two with one name the later counts. Raises Collection.DoesNotExist if it was removed.
    """
    batch = list({read.name: read for read in batch}.values())
    hashes = [digest(read.page.text) for read in batch]
    found = [list(passages(read.page)) for read in batch]
    with transaction.atomic():
        # One writer a collection at a time: what is new here is nobody else's document.
        Collection.objects.select_for_update().get(pk=collection.pk)
        Archive.objects.bulk_create(
            [
                Archive(hash=hashed, text=read.page.text)
                for read, hashed in zip(batch, hashes, strict=True)
            ],
            ignore_conflicts=True,
        )
        known = {
            row.path: row
            for row in Document.objects.filter(
                collection=collection, origin=origin, path__in=[read.name for read in batch]
            )
        }
        before = [row.archive_id for row in known.values()]
        rows = [
            _row(known.get(read.name) or Document(collection=collection, origin=origin), read, text)
            for read, text in zip(batch, hashes, strict=True)
        ]
        Chunk.objects.filter(document__in=known.values()).delete()
        Document.objects.bulk_update(known.values(), _CHANGED)
        Document.objects.bulk_create([row for row in rows if row.pk is None])
        Chunk.objects.bulk_create(
            [
                Chunk(
                    document=row,
                    ordinal=ordinal,
                    kind=passage.kind,
                    headings=list(passage.headings),
                    start=passage.start,
                    end=passage.end,
                )
                for row, parts in zip(rows, found, strict=True)
                for ordinal, passage in enumerate(parts)
            ],
            batch_size=500,
        )
        raise_version(collection.pk)
    if before:
        forget_texts(before)
    return {row.path: Written(row.pk, row.path in known) for row in rows}


def forget_texts(hashes: Iterable[str]) -> None:
    """Delete the texts of these that no document and no source has any more."""
    with suppress(IntegrityError, ProtectedError), transaction.atomic():
        # A run may take one up in this very moment: then they stay until the next time.
        Archive.objects.filter(pk__in=set(hashes), documents=None, sources=None).delete()


_CHANGED = ("title", "archive", "file_hash", "outline", "chars", "added_at")


def _row(row: Document, read: Read, hashed: str) -> Document:
    row.path = read.name
    row.title = read.page.title
    row.archive_id = hashed
    row.file_hash = read.file_hash
    row.outline = [[heading.level, heading.start, heading.end] for heading in read.page.outline]
    row.chars = len(read.page.text)
    row.added_at = timezone.now()
    return row
