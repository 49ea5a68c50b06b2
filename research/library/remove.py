"""Take documents and collections away, and the texts that nothing cites any more."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F

from research.library.add import BATCH_DOCUMENTS
from research.library.index import forget
from research.models.library import Archive, Collection, Document


def remove_document(document: Document) -> None:
    """Remove one document. What runs cited of it stays readable."""
    with transaction.atomic():
        hashed = document.archive_id
        Collection.objects.filter(pk=document.collection_id).update(version=F("version") + 1)
        document.delete()
        Archive.objects.filter(pk=hashed, documents=None, sources=None).delete()


def remove_collection(collection: Collection) -> int:
    """Remove a collection with its documents and index; return how many documents it had."""
    total = 0
    while ids := list(collection.documents.values_list("pk", flat=True)[:BATCH_DOCUMENTS]):
        with transaction.atomic():
            hashes = list(Document.objects.filter(pk__in=ids).values_list("archive_id", flat=True))
            Document.objects.filter(pk__in=ids).delete()
            Archive.objects.filter(pk__in=hashes, documents=None, sources=None).delete()
        total += len(ids)
    forget(collection)
    collection.delete()
    return total
