"""The search index of a collection at one version, on disk, mapped into memory.

A folder holds it: bm25s' arrays, the passages' text and where each stands. It is written under a
temporary name and renamed, so a reader sees a whole index or none; two processes that build the
same one end with one of the two.
"""

from __future__ import annotations

import json
import logging
import math
import os
import shutil
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from django.conf import settings

from research.library.index_files import COLUMNS, write
from research.models.library import Collection
from research.text.tokens import tokens

FORMAT = 3
"""Part of the folder's name: raise it whenever what is written, or how words are cut, changes."""

_locks: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)
_loaded: dict[int, Index] = {}


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document as the index knows it; outline items are (level, start, end, text)."""

    id: int
    path: str
    title: str
    hash: str
    outline: tuple[tuple[int, int, int, str], ...]


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A passage as the index knows it."""

    document: IndexedDocument
    headings: tuple[str, ...]
    row: bool
    start: int
    end: int
    text: str


class Index:
    """A collection's passages, ready to be scored."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bm25 = bm25s.BM25.load(folder, mmap=True, show_progress=False)
        self._table = np.load(folder / "passages.npy", mmap_mode="r")
        meta = json.loads((folder / "documents.json").read_text("utf-8"))
        self.documents = [
            IndexedDocument(
                row["id"], row["path"], row["title"], row["hash"], tuple(map(tuple, row["outline"]))
            )
            for row in meta["documents"]
        ]
        self._numbers = {document.id: at for at, document in enumerate(self.documents)}
        self._headings: list[tuple[str, ...]] = [tuple(path) for path in meta["headings"]]
        self._text = np.memmap(folder / "text.bin", np.uint8, "r") if len(self) else b""

    def __len__(self) -> int:
        return int(self._table.shape[0])

    def scores(self, words: Sequence[str]) -> np.ndarray[Any, Any]:
        """Return the BM25 score of each passage."""
        known = [word for word in words if word in self._bm25.vocab_dict]
        if not known:
            return np.zeros(len(self), dtype=np.float32)
        return np.asarray(self._bm25.get_scores(known))

    def frequency(self, word: str) -> int:
        """Return how many passages hold a word."""
        number = self._bm25.vocab_dict.get(word)
        if number is None:
            return 0
        ends = self._bm25.scores["indptr"]
        return int(ends[number + 1] - ends[number])

    def rarity(self, word: str) -> float:
        """Return the inverse document frequency of a word, 0 for one that no passage holds."""
        count = self.frequency(word)
        return math.log(1 + (len(self) - count + 0.5) / (count + 0.5)) if count else 0.0

    def chunk(self, number: int) -> IndexedChunk:
        """Return the passage of this number."""
        row = dict(zip(COLUMNS, map(int, self._table[number]), strict=True))
        return IndexedChunk(
            self.documents[row["document"]],
            self._headings[row["headings"]],
            bool(row["row"]),
            row["start"],
            row["end"],
            bytes(self._text[row["from_byte"] : row["to_byte"]]).decode("utf-8"),
        )

    def holds(self, document: IndexedDocument) -> bool:
        """Tell whether a document is one of this collection."""
        return document.id in self._numbers

    def headings_in(self, document: IndexedDocument) -> Counter[str]:
        """Return how many passages of a document stand below each of its headings."""
        number = self._numbers[document.id]
        rows = self._table[self._table[:, 0] == number, 1]
        return Counter(name for heading in rows.tolist() for name in set(self._headings[heading]))

    def documents_of(self, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the same for many passages."""
        return np.asarray(self._table[numbers, 0])


def _root() -> Path:
    return Path(settings.DATA_DIR) / "indexes"


def _prefix(collection: Collection) -> str:
    # The time is in the name because a new database may give the same id and version again.
    return f"{collection.pk}-{int(collection.created_at.timestamp() * 1e6):x}-"


def _folder(collection: Collection) -> Path:
    return _root() / f"{_prefix(collection)}{collection.version}-{FORMAT}"


def build(collection: Collection) -> Path:
    """Write the index of a collection as it stands, remove older ones, and return its folder."""
    target = _folder(collection)
    if target.exists():
        return target
    root = _root()
    root.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".building-", dir=root))
    try:
        write(collection, scratch)
        os.rename(scratch, target)
    except OSError:
        if not target.exists():  # else another process was first, and ours is as good as theirs
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    _remove_others(collection, target)
    return target


def _remove_others(collection: Collection, kept: Path | None) -> None:
    for folder in _root().glob(f"{collection.pk}-*"):
        if folder != kept:
            shutil.rmtree(folder, ignore_errors=True)


def forget(collection: Collection) -> None:
    """Remove what was built for a collection that is going away."""
    with _locks[collection.pk]:
        _loaded.pop(collection.pk, None)
    _remove_others(collection, None)


def load(collection: Collection) -> Index:
    """Return the index of a collection as it stands, built first if it is missing."""
    folder = _folder(collection)
    with _locks[collection.pk]:  # a long build of one collection keeps nobody from the others
        held = _loaded.get(collection.pk)
        if held is not None and held.folder == folder:
            return held
        for attempt in range(3):
            try:
                index = Index(build(collection))
                break
            except FileNotFoundError:  # a newer version came and this one was removed
                if attempt == 2:
                    raise
                collection.refresh_from_db()
            except (OSError, ValueError, KeyError):
                logging.getLogger(__name__).warning("rebuilding a damaged index: %s", folder)
                shutil.rmtree(folder, ignore_errors=True)
                if attempt == 2:
                    raise
        _loaded[collection.pk] = index
        return index


def query_tokens(query: str) -> list[str]:
    """Return the tokens of a query, each once, in order."""
    return list(dict.fromkeys(tokens(query)))
