"""The documents of a collection: sent, read, kept as a file, deleted."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.generic import TemplateView, View

from research.library import later, shown
from research.library.remove import remove_documents
from research.library.upload import add_files
from research.models import Collection, Document

from . import uploads
from .library import OfCollection


class Upload(OfCollection, View):
    """Take files in; each has its own outcome."""

    changes = True

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Lead to the collection: what a reload asks for."""
        return redirect("collection", collection_id=self.collection.pk)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Add what was sent, and tell what became of it: as data to the page, else as a page."""
        files = uploads.sent(request)
        try:
            outcomes = add_files(self.collection, files, settings.UPLOAD_FILE_BYTES)
        except Collection.DoesNotExist:
            raise Http404("There is no such collection.") from None
        if any(outcome.outcome in ("added", "replaced") for outcome in outcomes):
            later.soon(self.collection.pk)
        told = [uploads.told(self.collection.pk, outcome) for outcome in outcomes]
        if "application/json" in request.headers.get("Accept", ""):
            return JsonResponse({"files": told})
        context = {"collection": self.collection, "files": told}
        status = 200 if told else 422
        return render(request, "research/library_uploaded.html", context, status=status)


class RemoveDocuments(OfCollection, View):
    """Delete documents, once somebody has said so twice."""

    changes = True

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Lead to the collection: what a reload asks for."""
        return redirect("collection", collection_id=self.collection.pk)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Name what would be deleted; the second time, delete it."""
        ids = [int(key) for key in request.POST.getlist("document") if _is_id(key)]
        documents = self.collection.documents.filter(pk__in=ids)
        count = documents.count()
        if not count:
            messages.error(request, _("Choose the documents to delete first."))
        elif "sure" not in request.POST:
            named = documents.only("pk", "title", "path").order_by("title")
            context = {"collection": self.collection, "documents": named, "count": count}
            return render(request, "research/library_remove.html", context)
        else:
            remove_documents(documents)
            later.soon(self.collection.pk)
            said = ngettext("{n} document was deleted.", "{n} documents were deleted.", count)
            messages.success(request, said.format(n=count))
        return redirect("collection", collection_id=self.collection.pk)


class OfDocument(OfCollection):
    """A page of one document."""

    @cached_property
    def document(self) -> Document:
        """Return the document with its text."""
        found = self.collection.documents.select_related("archive")
        document = found.filter(pk=self.kwargs["document_id"]).first()
        if document is None:
            raise Http404("There is no such document.")
        return document


class DocumentPage(OfDocument, TemplateView):
    """A document as it was read: what searches find, and what reports cite."""

    template_name = "research/library_document.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add a part of its text: the one that is asked for, or that holds what is marked."""
        document = self.document
        text = document.archive.text
        starts = shown.parts_of(text)
        mark = self._mark(len(text))
        part = shown.part_at(starts, mark[0]) if mark else self._number("part", 1)
        part = min(max(part, 1), len(starts))
        end = starts[part] if part < len(starts) else len(text)
        return super().get_context_data(
            collection=self.collection,
            changeable=self.changeable,
            document=document,
            pieces=shown.pieces(text, document.outline, starts[part - 1], end, mark),
            contents=shown.contents(text, document.outline, starts),
            part=part,
            parts=len(starts),
            **kwargs,
        )

    def _number(self, name: str, default: int) -> int:
        said = self.request.GET.get(name, "")
        return int(said) if said.isdecimal() and len(said) < 10 else default

    def _mark(self, length: int) -> tuple[int, int] | None:
        start, end = self._number("start", 0), self._number("end", 0)
        return (start, end) if start < end <= length else None


class DocumentText(OfDocument, View):
    """The text of a document as a file to keep."""

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Return it."""
        response = HttpResponse(self.document.archive.text, "text/plain; charset=utf-8")
        name = self.document.path.rsplit("/", 1)[-1]
        disposition = content_disposition_header(True, f"{name.removesuffix('.txt')}.txt")
        response["Content-Disposition"] = str(disposition)
        return response


def _is_id(text: str) -> bool:
    return text.isdecimal() and len(text) < 19  # what a database has room for
