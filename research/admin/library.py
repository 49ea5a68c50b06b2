"""Collections of documents. Documents come in through the library, which indexes them."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from research.models import Collection, Document

from .reading import ReadOnly


@admin.register(Collection)
class CollectionAdmin(admin.ModelAdmin[Collection]):
    """Collections."""

    list_display = ["name", "owner", "documents_count", "version", "created_at"]
    list_filter = [("owner", admin.RelatedOnlyFieldListFilter), "created_at"]
    list_select_related = ["owner"]
    search_fields = ["name", "owner__username"]
    readonly_fields = ["version"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        """Count the documents."""
        return super().get_queryset(request).annotate(n_documents=Count("documents"))

    @admin.display(description="documents", ordering="n_documents")
    def documents_count(self, collection: Collection) -> int:
        """Return how many documents it holds."""
        return int(getattr(collection, "n_documents", 0))


@admin.register(Document)
class DocumentAdmin(ReadOnly, admin.ModelAdmin[Document]):
    """Documents."""

    list_display = ["title", "collection", "path", "origin", "added_at"]
    list_filter = ["collection", "added_at"]
    list_select_related = ["collection"]
    search_fields = ["title", "path"]
    fields = ["title", "collection", "path", "origin", "file_hash", "archive", "outline",
              "added_at"]  # fmt: skip
    show_full_result_count = False
