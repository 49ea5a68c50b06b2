"""What the folder of an index holds, and how it is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bm25s
import numpy as np

from research.library.weigh import file_tokens, index_tokens, known_acronyms
from research.models.library import Chunk, ChunkKind, Collection, Document

COLUMNS = ("document", "headings", "row", "start", "end", "from_byte", "to_byte")
"""Of the table of passages: where each stands in its document and in the texts' file."""


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
                corpus.append(index_tokens(said, path, acronyms) + file_tokens(document.path))
    np.save(folder / "passages.npy", np.array(table, dtype=np.int64).reshape(-1, len(COLUMNS)))
    meta = {"documents": documents, "headings": list(paths)}
    (folder / "documents.json").write_text(json.dumps(meta, ensure_ascii=False), "utf-8")
    bm25 = bm25s.BM25(k1=1.2, b=0.75)
    # bm25s cannot index nothing; a word that no query has stands in.
    bm25.index(corpus or [["\x00"]], show_progress=False)
    bm25.save(folder, show_progress=False)
