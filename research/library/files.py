"""Which files of a folder are documents."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from research.library.parse import SUFFIXES

_NOT_DOCUMENTS = frozenset(("node_modules", "__pycache__", "site-packages", "dist", "build"))
MAX_FILES = 50_000


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read, and what it is called: its path below the folder that was added."""

    path: Path
    name: str


def _inside(path: Path, root: Path) -> bool:
    """Tell whether a path, links followed, is still below the folder."""
    try:
        return path.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):
        return False


def documents_in(folder: Path) -> Iterator[Found]:
    """Yield the documents below a folder in order of their path.

    Hidden ones, those of unknown kinds and links that lead out of the folder are left out.
    """
    root = folder.resolve(strict=True)
    count = 0
    for here, folders, files in os.walk(root, followlinks=False):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in _NOT_DOCUMENTS
        )
        for file in sorted(files):
            path = Path(here, file)
            if file.startswith(".") or path.suffix.lower() not in SUFFIXES:
                continue
            if path.is_symlink() and not _inside(path, root):
                continue
            if not path.is_file():
                continue
            count += 1
            if count > MAX_FILES:
                return
            yield Found(path, path.relative_to(root).as_posix())
