"""Bring documents into a collection: read, compare, write in small transactions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import F

from research.library.chunks import passages
from research.library.files import Found, documents_in
from research.library.index import build
from research.library.page import Page
from research.library.parse import MAX_BYTES, READING, parse
from research.library.unreadable import Unreadable
from research.models.library import Archive, Chunk, Collection, Document

BATCH_CHARS = 500_000
BATCH_DOCUMENTS = 50
"""What one transaction writes: a server on the same SQLite file waits for it."""

Progress = Callable[[int, int, str], None]
"""Called with how many files are done, how many there are, and the name of this one."""


@dataclass(slots=True)
class AddReport:
    """What happened to each file. `skipped` are (name, reason)."""

    collection_id: int
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Tell whether the collection is another than before."""
        return bool(self.added or self.updated or self.removed)


@dataclass(frozen=True, slots=True)
class _Read:
    name: str
    file_hash: str
    page: Page


def _collection(name: str, owner: Any) -> Collection:
    return Collection.objects.get_or_create(name=name[:80], owner=owner)[0]


def _raise_version(collection: Collection) -> None:
    Collection.objects.filter(pk=collection.pk).update(version=F("version") + 1)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _fingerprint(data: bytes) -> str:
    """Return what a file is known by: another way to read files makes every one a changed one."""
    return hashlib.sha256(b"%d:" % READING + data).hexdigest()


def _write(collection: Collection, origin: str, batch: list[_Read], report: AddReport) -> None:
    """Write a batch of documents, their texts and passages, in one transaction."""
    rows = []
    for read in batch:
        hashed = _digest(read.page.text)
        rows.append((read, hashed, list(passages(read.page))))
    with transaction.atomic():
        Archive.objects.bulk_create(
            [Archive(hash=hashed, text=read.page.text) for read, hashed, _ in rows],
            ignore_conflicts=True,
        )
        chunks = []
        for read, hashed, found in rows:
            document, created = Document.objects.update_or_create(
                collection=collection,
                origin=origin,
                path=read.name,
                defaults={
                    "title": read.page.title,
                    "archive_id": hashed,
                    "file_hash": read.file_hash,
                    "outline": [[h.level, h.start, h.end] for h in read.page.outline],
                },
            )
            if created:
                report.added += 1
            else:
                report.updated += 1
                document.chunks.all().delete()
            chunks += [
                Chunk(
                    document=document,
                    ordinal=ordinal,
                    kind=passage.kind,
                    headings=list(passage.headings),
                    start=passage.start,
                    end=passage.end,
                )
                for ordinal, passage in enumerate(found)
            ]
        Chunk.objects.bulk_create(chunks, batch_size=500)
        _raise_version(collection)


def _read_all(
    found: Iterable[Found], known: dict[str, str], report: AddReport, on_progress: Progress | None
) -> Iterator[_Read]:
    """Yield the files that are new or changed, read; count the others."""
    files = list(found)
    for done, file in enumerate(files, 1):
        if on_progress:
            on_progress(done, len(files), file.name)
        try:
            if file.path.stat().st_size > MAX_BYTES:
                raise Unreadable(f"larger than {MAX_BYTES // 1_000_000} MB")
            data = file.path.read_bytes()
            file_hash = _fingerprint(data)
            if known.get(file.name) == file_hash:
                report.unchanged += 1
                continue
            yield _Read(file.name[:500], file_hash, parse(file.name, data))
        except (Unreadable, OSError) as error:
            reason = str(error) if isinstance(error, Unreadable) else error.strerror or "unreadable"
            report.skipped.append((file.name, reason))


def _remove(documents: Iterable[int], collection: Collection) -> int:
    ids = list(documents)
    for at in range(0, len(ids), BATCH_DOCUMENTS):
        with transaction.atomic():
            Document.objects.filter(pk__in=ids[at : at + BATCH_DOCUMENTS]).delete()
            _raise_version(collection)
    return len(ids)


def _take(
    collection: Collection, origin: str, found: list[Found], on_progress: Progress | None
) -> AddReport:
    report = AddReport(collection.pk)
    documents = Document.objects.filter(collection=collection, origin=origin)
    known = dict(documents.values_list("path", "file_hash"))
    batch: list[_Read] = []
    size = 0
    for read in _read_all(found, known, report, on_progress):
        batch.append(read)
        size += len(read.page.text)
        if size >= BATCH_CHARS or len(batch) >= BATCH_DOCUMENTS:
            _write(collection, origin, batch, report)
            batch, size = [], 0
    if batch:
        _write(collection, origin, batch, report)
    return report


def add_path(
    path: str | Path, collection: str, owner: Any = None, on_progress: Progress | None = None
) -> AddReport:
    """Add a file, or a folder with all below it, to a collection, which is made if there is none.

    Files that did not change are skipped; of a folder that was added before, those that are gone
    are removed. Raises FileNotFoundError if there is no such path. Blocking.
    """
    path = Path(path).resolve(strict=True)
    target = _collection(collection, owner)
    if path.is_dir():
        found = list(documents_in(path))
        origin = _digest(str(path))
    else:
        found = [Found(path, path.name)]
        origin = _digest(str(path.parent) + "/")
    report = _take(target, origin, found, on_progress)
    if path.is_dir():
        names = {file.name[:500] for file in found}
        rows = Document.objects.filter(collection=target, origin=origin)
        gone = [pk for pk, name in rows.values_list("pk", "path") if name not in names]
        report.removed = _remove(gone, target)
    if report.changed:
        target.refresh_from_db()
        build(target)
    return report


def add_file(name: str, data: bytes, collection: Collection) -> AddReport:
    """Add one uploaded file to a collection; of the same name again, it replaces the first.

    Raises Unreadable, whose message is for the user.
    """
    report = AddReport(collection.pk)
    file_hash = _fingerprint(data)
    short = name.replace("\\", "/").rsplit("/", 1)[-1][:500]
    rows = Document.objects.filter(collection=collection, origin="", path=short)
    if rows.filter(file_hash=file_hash).exists():
        report.unchanged = 1
        return report
    _write(collection, "", [_Read(short, file_hash, parse(short, data))], report)
    return report
