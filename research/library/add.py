"""Bring documents into a collection: read, compare, write in small transactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings

from research.library.files import Found, documents_in
from research.library.index import build
from research.library.reading import File, read_all
from research.library.remove import remove_documents
from research.library.unreadable import Unreadable
from research.library.write import (
    BATCH_DOCUMENTS,
    Read,
    Written,
    batches,
    digest,
    write,
)
from research.models.library import Collection, Document


class Progress(Protocol):
    """Called with how many files are done, how many there are, and the name of this one."""

    def __call__(self, done: int, total: int, name: str, /) -> None:
        """Show it."""


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

    def count(self, written: Iterable[Written]) -> None:
        """Count what was written."""
        for document in written:
            if document.replaced:
                self.updated += 1
            else:
                self.added += 1


def _changed(
    found: list[Found], known: Mapping[str, str], report: AddReport, on_progress: Progress | None
) -> Iterator[File]:
    """Yield the files that are new or changed; count the others."""
    for done, one in enumerate(found, 1):
        if on_progress:
            on_progress(done, len(found), one.name)
        try:
            if one.path.stat().st_size > settings.UPLOAD_FILE_BYTES:
                raise Unreadable("too_large", str(settings.UPLOAD_FILE_BYTES // 1_000_000))
            file = File.of(one.name[:500], one.path.read_bytes())
        except (Unreadable, OSError) as error:
            reason = str(error) if isinstance(error, Unreadable) else error.strerror or "unreadable"
            report.skipped.append((one.name, reason))
            continue
        if known.get(file.name) == file.hash:
            report.unchanged += 1
        else:
            yield file


def _readable(files: Iterator[File], report: AddReport) -> Iterator[Read]:
    """Yield the files that could be read; tell of the others."""
    for file, result in read_all(files):
        if isinstance(result, Unreadable):
            report.skipped.append((file.name, str(result)))
        else:
            yield Read(file.name, file.hash, result)


def add_paths(
    paths: Sequence[str | Path],
    collection: str,
    owner: Any = None,
    on_progress: Progress | None = None,
) -> AddReport:
    """Add files, and folders with all below them, to a collection, made if there is none.

    Files that did not change are skipped; of a folder that was added before, those that are gone
    are removed. Raises FileNotFoundError if there is no such path. Blocking.
    """
    folders: list[Path] = []
    alone: dict[Path, list[Found]] = {}
    for path in (Path(path).resolve(strict=True) for path in paths):
        if path.is_dir():
            folders.append(path)
        else:
            alone.setdefault(path.parent, []).append(Found(path, path.name))
    target = Collection.objects.get_or_create(name=collection[:80], owner=owner)[0]
    report = AddReport(target.pk)
    for folder in folders:
        found = list(documents_in(folder))
        origin = digest(str(folder))
        _take(target, origin, found, report, on_progress)
        _remove_gone(target, origin, found, report)
    for folder, found in alone.items():
        _take(target, digest(f"{folder}/"), found, report, on_progress)
    if report.changed:
        target.refresh_from_db()
        build(target)
    return report


def add_path(
    path: str | Path, collection: str, owner: Any = None, on_progress: Progress | None = None
) -> AddReport:
    """Add one file, or a folder with all below it."""
    return add_paths([path], collection, owner, on_progress)


def _take(
    target: Collection,
    origin: str,
    found: list[Found],
    report: AddReport,
    on_progress: Progress | None,
) -> None:
    """Add the files that are new or changed."""
    rows = Document.objects.filter(collection=target, origin=origin)
    known = dict(rows.values_list("path", "file_hash"))
    changed = _changed(found, known, report, on_progress)
    for batch in batches(_readable(changed, report)):
        report.count(write(target, origin, batch).values())


def _remove_gone(target: Collection, origin: str, found: list[Found], report: AddReport) -> None:
    """Remove the documents of a folder whose files are there no longer."""
    names = {file.name[:500] for file in found}
    rows = Document.objects.filter(collection=target, origin=origin)
    gone = [pk for pk, name in rows.values_list("pk", "path") if name not in names]
    for at in range(0, len(gone), BATCH_DOCUMENTS):
        report.removed += remove_documents(rows.filter(pk__in=gone[at : at + BATCH_DOCUMENTS]))
