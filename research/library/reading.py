"""Read files that anybody may have made: in a process of its own, within limits, ahead of need."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from research import sandbox
from research.library.page import Page
from research.library.parse import READING
from research.library.unreadable import Unreadable

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 4
"""How many files are read before what came before them is written."""

_REASONS = {"too_slow": "too_slow", "too_large": "unpacks_too_large", "broken": "broken"}


def fingerprint(data: bytes) -> str:
    """Return what a file is known by: another way to read files makes every one a changed one."""
    return hashlib.sha256(b"%d:" % READING + data).hexdigest()


def read(name: str, data: bytes) -> Page:
    """Return a file as a page, parsed in another process. Raises Unreadable."""
    try:
        page: Page = sandbox.call("research.library.parse:parse", name, data, returns=Page)
    except sandbox.SandboxError as error:
        raise Unreadable(_REASONS[error.code]) from None
    return page


def ahead(function: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, Future[R]]]:
    """Yield each item with what comes of it; some of the next are worked on meanwhile."""
    waiting: deque[tuple[T, Future[R]]] = deque()
    with ThreadPoolExecutor(1, "library-read") as pool:
        try:
            for item in items:
                waiting.append((item, pool.submit(function, item)))
                if len(waiting) > AHEAD:
                    yield waiting.popleft()
            while waiting:
                yield waiting.popleft()
        finally:
            for _, future in waiting:
                future.cancel()
