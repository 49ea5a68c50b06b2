"""Take documents and collections away, and the texts that nothing cites any more."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet

from research.library.index import forget
from research.library.write import BATCH_DOCUMENTS, forget_texts, raise_version
from research.models.library import Chunk, Collection, Document


def remove_documents(documents: QuerySet[Document]) -> int:
    """Remove documents; return how many. What runs cited of them stays readable."""
    rows = list(documents.values_list("pk", "collection_id", "archive_id"))
    for at in range(0, len(rows), BATCH_DOCUMENTS):
        some = rows[at : at + BATCH_DOCUMENTS]
        with transaction.atomic():
            Chunk.objects.filter(document__in=[row[0] for row in some]).delete()
            Document.objects.filter(pk__in=[row[0] for row in some]).delete()
            for collection_id in {row[1] for row in some}:
                raise_version(collection_id)
        forget_texts(row[2] for row in some)
    return len(rows)


def remove_collection(collection: Collection) -> int:
    """Remove a collection with its documents and index; return how many documents it had."""
    count = remove_documents(collection.documents.all())
    Collection.objects.filter(pk=collection.pk).delete()
    forget(collection)
    return count
