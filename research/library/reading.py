"""Read files that anybody may have made: in a process of its own, within limits, ahead of need.

A call costs more than most small files, so texts go there many at a time. What unpacks, such as a
PDF, goes alone; and when a call breaks, each of its files is tried again alone.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from research import sandbox
from research.library.names import suffix_of
from research.library.page import Page
from research.library.parse import READERS, READING, Parsed
from research.library.unreadable import Unreadable

AHEAD = 2
"""How many calls are made before what came before them is written."""
TOGETHER_FILES = 32
TOGETHER_BYTES = 400_000

_REASONS = {"too_slow": "too_slow", "too_large": "unpacks_too_large", "broken": "broken"}


@dataclass(frozen=True, slots=True)
class File:
    """A file to be read; `hash` tells it from any other, and from another way to read."""

    name: str
    hash: str
    data: bytes

    @classmethod
    def of(cls, name: str, data: bytes) -> File:
        """Return a file by its name and content."""
        return cls(name, hashlib.sha256(b"%d:" % READING + data).hexdigest(), data)


Result = Page | Unreadable


def read(files: Sequence[File]) -> list[Result]:
    """Return each file as a page, parsed in another process, or why it is none."""
    sent = [(file.name, file.data) for file in files]
    try:
        found = sandbox.call("research.library.parse:parse_all", sent, returns=list[Parsed])
    except sandbox.SandboxError as error:
        if len(files) > 1:
            return [result for file in files for result in read([file])]
        return [Unreadable(_REASONS[error.code])]
    return [one.page or Unreadable(one.code, one.detail) for one in found]


def read_all(files: Iterable[File]) -> Iterator[tuple[File, Result]]:
    """Yield each file, in order, with what it was read as; some of the next are read meanwhile."""
    waiting: deque[tuple[list[File], Future[list[Result]]]] = deque()
    with ThreadPoolExecutor(1, "library-read") as pool:
        try:
            for group in _groups(files):
                waiting.append((group, pool.submit(read, group)))
                if len(waiting) > AHEAD:
                    yield from _done(*waiting.popleft())
            while waiting:
                yield from _done(*waiting.popleft())
        finally:
            for _, future in waiting:
                future.cancel()


def _done(group: list[File], future: Future[list[Result]]) -> Iterator[tuple[File, Result]]:
    return zip(group, future.result(), strict=True)


def _groups(files: Iterable[File]) -> Iterator[list[File]]:
    """Yield the files in groups that are read by one call."""
    group: list[File] = []
    size = 0
    for file in files:
        alone = suffix_of(file.name) in READERS
        if group and (
            alone or len(group) >= TOGETHER_FILES or size + len(file.data) > TOGETHER_BYTES
        ):
            yield group
            group, size = [], 0
        if alone:
            yield [file]
            continue
        group.append(file)
        size += len(file.data)
    if group:
        yield group
