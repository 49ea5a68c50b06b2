"""Files that somebody sends: each has an outcome of its own, and none stops the others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from research.library.names import safe_path
from research.library.reading import File, read_all
from research.library.unreadable import Unreadable
from research.library.write import Read, batches, write
from research.models.library import Collection, Document


class Upload(Protocol):
    """A file: what it is called, how many bytes it has, and the bytes."""

    @property
    def name(self) -> str:
        """Return its name, or its path below a folder that is sent."""

    @property
    def size(self) -> int:
        """Return its length in bytes."""

    def read(self) -> bytes:
        """Return the content."""


@dataclass(slots=True)
class Outcome:
    """What became of a file; `code` and `reason` say why it was refused."""

    name: str
    outcome: Literal["added", "replaced", "unchanged", "refused"]
    code: str = ""
    reason: str = ""
    document_id: int | None = None

    def refuse(self, error: Unreadable) -> None:
        """Say why it was not added."""
        self.outcome, self.code, self.reason = "refused", error.code, str(error)


@dataclass(frozen=True, slots=True)
class Bytes:
    """A file that is in memory."""

    name: str
    data: bytes

    @property
    def size(self) -> int:
        """Return its length in bytes."""
        return len(self.data)

    def read(self) -> bytes:
        """Return the content."""
        return self.data


def add_files(collection: Collection, files: Sequence[Upload], max_bytes: int) -> list[Outcome]:
    """Add files to a collection, and return what became of each, in their order. Blocking.

    One of a name that is there already takes its place. Raises Collection.DoesNotExist if the
    collection was removed meanwhile.
    """
    outcomes: list[Outcome] = []
    for batch in batches(_read_all(collection, files, max_bytes, outcomes)):
        written = write(collection, "", batch)
        for outcome in outcomes:
            if outcome.document_id is None and outcome.name in written:
                document = written[outcome.name]
                outcome.document_id = document.document_id
                outcome.outcome = "replaced" if document.replaced else "added"
    return outcomes


def add_file(name: str, data: bytes, collection: Collection) -> Outcome:
    """Add one file that is in memory."""
    return add_files(collection, [Bytes(name, data)], len(data))[0]


def _read_all(
    collection: Collection, files: Iterable[Upload], max_bytes: int, outcomes: list[Outcome]
) -> Iterator[Read]:
    """Yield the files that are new or changed, read; note down the outcome of each."""
    known = Document.objects.filter(collection=collection, origin="")
    waiting: deque[Outcome] = deque()

    def changed() -> Iterator[File]:
        for file in files:
            outcome = Outcome(file.name[:200], "added")
            outcomes.append(outcome)
            try:
                outcome.name = safe_path(file.name)
                if file.size > max_bytes:
                    raise Unreadable("too_large", str(max_bytes // 1_000_000))
            except Unreadable as error:
                outcome.refuse(error)
                continue
            taken = File.of(outcome.name, file.read())
            same = known.filter(path=taken.name).values_list("pk", "file_hash").first()
            if same and same[1] == taken.hash:
                outcome.outcome, outcome.document_id = "unchanged", same[0]
            else:
                waiting.append(outcome)
                yield taken

    for file, result in read_all(changed()):
        outcome = waiting.popleft()
        if isinstance(result, Unreadable):
            outcome.refuse(result)
        else:
            yield Read(file.name, file.hash, result)
