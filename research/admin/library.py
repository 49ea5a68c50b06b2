"""Collections, documents, and the texts that sources and documents share.

Documents come in through the library, which indexes them.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from research.library.remove import remove_collection
from research.models import Archive, Collection, Document, Source

from .counting import count_of
from .reading import ReadOnly, Rows
from .telling import NOTHING, as_json, line, link_to, list_of, moment, whole


@admin.register(Collection)
class CollectionAdmin(Rows):
    """Collections."""

    list_display = ["name", "owner_or_all", "documents_count", "version", "created"]
    list_filter = [("owner", admin.EmptyFieldListFilter),
                   ("owner", admin.RelatedOnlyFieldListFilter), "created_at"]  # fmt: skip
    list_select_related = ["owner"]
    search_fields = ["name", "owner__username"]
    search_help_text = _("A name, or the name of its owner")
    date_hierarchy = "created_at"
    fields = ["name", "owner", "version", "documents", "created_at"]
    readonly_fields = ["version", "documents", "created_at"]
    raw_id_fields = ["owner"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        """Count the documents."""
        rows: QuerySet[Collection] = super().get_queryset(request)
        return rows.annotate(n_documents=count_of(Document, "collection"))

    @admin.display(description=_("owner"), ordering="owner__username")
    def owner_or_all(self, collection: Collection) -> str:
        """Return whose it is."""
        return collection.owner.get_username() if collection.owner else str(_("everybody"))

    @admin.display(description=_("documents"), ordering="n_documents")
    def documents_count(self, collection: Any) -> int:
        """Return how many documents it holds."""
        return int(collection.n_documents)

    @admin.display(description=_("documents"))
    def documents(self, collection: Collection) -> SafeString | str:
        """Return a link to its documents."""
        if collection._state.adding:
            return NOTHING
        return list_of(Document, _("documents"), collection__id__exact=collection.pk)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Tell what goes with collections by its number: thousands of documents are no list."""
        rows = list(objs)
        count = Document.objects.filter(collection__in=rows).count()
        names = {self.opts.verbose_name_plural: len(rows)}
        names |= {Document._meta.verbose_name_plural: count} if count else {}
        return [str(row) for row in rows], names, set(), []

    def delete_model(self, request: HttpRequest, obj: Collection) -> None:
        """Delete it with its documents and its index."""
        remove_collection(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Collection]) -> None:
        """Delete each with its documents and its index."""
        for collection in queryset:
            remove_collection(collection)


@admin.register(Document)
class DocumentAdmin(ReadOnly, Rows):
    """Documents."""

    list_display = ["title_line", "of_collection", "path_line", "chars", "added"]
    list_filter = [("collection", admin.RelatedOnlyFieldListFilter), "added_at"]
    list_select_related = ["collection"]
    search_fields = ["title", "path"]
    search_help_text = _("Words of the title or the path")
    ordering = ["-pk"]
    late = ("outline",)
    fields = ["title", "of_collection", "path", "origin", "chars", "file_hash", "of_archive",
              "sources", "told_outline", "added_at"]  # fmt: skip

    @admin.display(description=_("title"), ordering="title")
    def title_line(self, document: Document) -> str:
        """Return the title, cut."""
        return line(str(document), 80)

    @admin.display(description=_("path"), ordering="path")
    def path_line(self, document: Document) -> str:
        """Return the path, cut."""
        return line(document.path, 60)

    @admin.display(description=_("added"), ordering="added_at")
    def added(self, document: Document) -> str:
        """Return when it was added, or changed."""
        return moment(document.added_at)

    @admin.display(description=_("collection"), ordering="collection__name")
    def of_collection(self, document: Document) -> SafeString | str:
        """Return a link to its collection."""
        return link_to(document.collection)

    @admin.display(description=_("text"))
    def of_archive(self, document: Document) -> SafeString | str:
        """Return a link to its text."""
        return link_to(document.archive)

    @admin.display(description=_("used as"))
    def sources(self, document: Document) -> SafeString | str:
        """Return a link to the sources that it was."""
        return list_of(Source, _("sources"), document__id__exact=document.pk)

    @admin.display(description=_("headings"))
    def told_outline(self, document: Document) -> SafeString:
        """Return its headings."""
        return as_json(document.outline)


@admin.register(Archive)
class ArchiveAdmin(ReadOnly, Rows):
    """Texts as they were read. Sorted by their hash: to sort by time would read all of them."""

    list_display = ["__str__", "n_sources", "n_documents"]
    search_fields = ["hash__startswith"]
    search_help_text = _("The beginning of a hash")
    ordering = ["pk"]
    sortable_by = ()
    late = ("text", "created_at")
    fields = ["hash", "created_at", "used", "told_text"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Archive]:
        """Count what shares each text."""
        rows: QuerySet[Archive] = super().get_queryset(request)
        return rows.annotate(
            count_sources=count_of(Source, "archive"), count_documents=count_of(Document, "archive")
        )

    @admin.display(description=_("sources"))
    def n_sources(self, archive: Any) -> int:
        """Return how many sources have this text."""
        return int(archive.count_sources)

    @admin.display(description=_("documents"))
    def n_documents(self, archive: Any) -> int:
        """Return how many documents have this text."""
        return int(archive.count_documents)

    @admin.display(description=_("used by"))
    def used(self, archive: Archive) -> SafeString:
        """Return a link to the sources that have this text."""
        return list_of(Source, _("sources"), archive__hash__exact=archive.pk)

    @admin.display(description=_("text"))
    def told_text(self, archive: Archive) -> SafeString:
        """Return the text."""
        return whole(archive.text)
