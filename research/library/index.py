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

from research.library.weigh import index_tokens, known_acronyms
from research.models.library import Chunk, ChunkKind, Collection, Document
from research.text.tokens import tokens

FORMAT = 2
"""Part of the folder's name: raise it whenever what is written, or how words are cut, changes."""

_COLUMNS = ("document", "headings", "row", "start", "end", "from_byte", "to_byte")
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
        row = dict(zip(_COLUMNS, map(int, self._table[number]), strict=True))
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


def _write(collection: Collection, folder: Path) -> None:
    """Write the index of what the database holds now into an empty folder."""
    documents: list[dict[str, Any]] = []
    paths: dict[tuple[str, ...], int] = {}
    table: list[tuple[int, ...]] = []
    corpus: list[list[str]] = []
    size = 0
    acronyms = known_acronyms(
        Document.objects.filter(collection=collection).values_list("title", flat=True)
    )
    query = (
        Document.objects.filter(collection=collection).select_related("archive").order_by("path")
    )
    with open(folder / "text.bin", "wb") as out:
        for document in query.iterator(chunk_size=50):
            text = document.archive.text
            outline = [[lv, a, b, text[a:b]] for lv, a, b in document.outline]
            number = len(documents)
            documents.append(
                {
                    "id": document.pk,
                    "path": document.path,
                    "title": document.title,
                    "hash": document.archive_id,
                    "outline": outline,
                }
            )
            chunks = Chunk.objects.filter(document=document).order_by("ordinal")
            for kind, headings, start, end in chunks.values_list(
                "kind", "headings", "start", "end"
            ):
                said = text[start:end]
                data = said.encode("utf-8")
                out.write(data)
                path = tuple(headings)
                heading = paths.setdefault(path, len(paths))
                row = (
                    number,
                    heading,
                    int(kind == ChunkKind.ROW),
                    start,
                    end,
                    size,
                    size + len(data),
                )
                table.append(row)
                size += len(data)
                corpus.append(index_tokens(said, path, acronyms))
    np.save(folder / "passages.npy", np.array(table, dtype=np.int64).reshape(-1, len(_COLUMNS)))
    meta = {"documents": documents, "headings": list(paths)}
    (folder / "documents.json").write_text(json.dumps(meta, ensure_ascii=False), "utf-8")
    bm25 = bm25s.BM25(k1=1.2, b=0.75)
    # bm25s cannot index nothing; a word that no query has stands in.
    bm25.index(corpus or [["\x00"]], show_progress=False)
    bm25.save(folder, show_progress=False)


def build(collection: Collection) -> Path:
    """Write the index of a collection as it stands, remove older ones, and return its folder."""
    target = _folder(collection)
    if target.exists():
        return target
    root = _root()
    root.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".building-", dir=root))
    try:
        _write(collection, scratch)
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
