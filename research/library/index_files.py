"""What the folder of an index holds, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

import bm25s
import numpy as np
from django.db.models import QuerySet

from research.library.weigh import file_tokens, index_tokens, known_acronyms
from research.models.library import Chunk, ChunkKind, Collection, Document

_AT_ONCE = 50
_Chunk = tuple[str, list[str], int, int]

COLUMNS = ("document", "headings", "row", "start", "end", "from_byte", "to_byte")
"""Of the table of passages: where each stands in its document and in the texts' file."""


def _with_chunks(query: QuerySet[Document]) -> Iterator[tuple[Document, list[_Chunk]]]:
    """Yield each document with its passages, which are fetched for many at once."""
    documents = query.iterator(chunk_size=_AT_ONCE)
    while some := list(islice(documents, _AT_ONCE)):
        found: dict[int, list[_Chunk]] = {document.pk: [] for document in some}
        rows = Chunk.objects.filter(document__in=found).order_by("document", "ordinal")
        for key, *chunk in rows.values_list("document", "kind", "headings", "start", "end"):
            found[key].append(cast(_Chunk, tuple(chunk)))
        yield from ((document, found[document.pk]) for document in some)


def write(collection: Collection, folder: Path) -> None:
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
        for document, chunks in _with_chunks(query):
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
            for kind, headings, start, end in chunks:
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
                corpus.append(index_tokens(said, path, acronyms) + file_tokens(document.path))
    np.save(folder / "passages.npy", np.array(table, dtype=np.int64).reshape(-1, len(COLUMNS)))
    meta = {"documents": documents, "headings": list(paths)}
    (folder / "documents.json").write_text(json.dumps(meta, ensure_ascii=False), "utf-8")
    bm25 = bm25s.BM25(k1=1.2, b=0.75)
    # bm25s cannot index nothing; a word that no query has stands in.
    bm25.index(corpus or [["\x00"]], show_progress=False)
    bm25.save(folder, show_progress=False)
