"""The library: collections, and the documents of one."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib import messages
from django.contrib.auth.mixins import LoginRequiredMixin
from django.core.exceptions import PermissionDenied
from django.db.models import F, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.generic import ListView, TemplateView, View

from research.forms import CollectionForm
from research.library.find import search
from research.library.parse import SUFFIXES
from research.library.remove import remove_collection
from research.library.rights import may_change, may_share, visible_collection
from research.models import Collection, Document
from research.tools.search.base import Passage
from streaming.exceptions import NotFound

from . import uploads

IN_TEXTS = 6
QUERY_LENGTH = 200


class Library(LoginRequiredMixin, TemplateView):
    """The collections that one may read, and a form for a new one."""

    template_name = "research/library.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Let no cache keep what is shown."""
        response = super().dispatch(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the collections, one's own first."""
        user = self.request.user
        found = Collection.objects.readable_by(user).with_sizes()
        kwargs.setdefault("form", CollectionForm(user=user))
        return super().get_context_data(
            collections=found.order_by(F("owner").desc(nulls_last=True), "name"),
            may_share=may_share(user),
            **kwargs,
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        """Make a collection and lead to it."""
        form = CollectionForm(request.POST, user=request.user)
        if form.is_valid():
            return redirect("collection", collection_id=form.make().pk)
        return render(request, self.template_name, self.get_context_data(form=form), status=422)


class OfCollection(LoginRequiredMixin):
    """A page of one collection. One that a person may not see is not there."""

    kwargs: dict[str, Any]
    request: Any
    changes = False
    """Whether it is for those alone who may change the collection."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Ask who comes before anything is done, and let no cache keep what is shown."""
        if request.user.is_authenticated and self.changes and not self.changeable:
            raise PermissionDenied
        response = super().dispatch(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    @cached_property
    def collection(self) -> Collection:
        """Return the collection."""
        try:
            return visible_collection(self.request.user, self.kwargs["collection_id"])
        except NotFound as error:
            raise Http404(error.message) from None

    @cached_property
    def changeable(self) -> bool:
        """Tell whether whoever comes may change it."""
        return may_change(self.request.user, self.collection)


class CollectionPage(OfCollection, ListView[Document]):
    """The documents of a collection, newest first; with `?q=` those that are about something."""

    template_name = "research/library_collection.html"
    context_object_name = "documents"
    paginate_by = 50

    @cached_property
    def query(self) -> str:
        """Return what is searched for."""
        return str(self.request.GET.get("q", "")).replace("\x00", "").strip()[:QUERY_LENGTH]

    def get_queryset(self) -> QuerySet[Document]:
        """Return the documents; of a search those whose name or title says it."""
        found = Document.objects.filter(collection=self.collection)
        if self.query:
            found = found.filter(Q(title__icontains=self.query) | Q(path__icontains=self.query))
        return found.only("path", "title", "chars", "added_at").order_by("-added_at", "-pk")

    def passages(self) -> tuple[Passage, ...]:
        """Return what the texts say about what is searched for."""
        if not self.query or self.request.GET.get("page", "1") != "1":
            return ()
        return search([self.collection.pk], self.query, IN_TEXTS).passages[:IN_TEXTS]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the collection, its sizes, and what may be done with it."""
        return super().get_context_data(
            collection=self.collection,
            sizes=Collection.objects.with_sizes().get(pk=self.collection.pk),
            changeable=self.changeable,
            query=self.query,
            passages=self.passages(),
            accept=",".join(sorted(SUFFIXES)),
            limits=uploads.limits(),
            **kwargs,
        )


class Rename(OfCollection, View):
    """Give a collection another name."""

    changes = True

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Lead to the collection: what a reload asks for."""
        return redirect("collection", collection_id=self.collection.pk)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Rename it, or say why not."""
        form = CollectionForm(request.POST, user=request.user, collection=self.collection)
        if form.is_valid():
            form.rename()
        for error in form.errors.get("name", []):
            messages.error(request, str(error))
        return redirect("collection", collection_id=self.collection.pk)


class DeleteCollection(OfCollection, TemplateView):
    """Delete a collection with its documents, once somebody has said so twice."""

    template_name = "research/library_delete.html"
    changes = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add what would be deleted."""
        count = self.collection.documents.count()
        return super().get_context_data(collection=self.collection, count=count, **kwargs)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Delete it."""
        name = self.collection.name
        remove_collection(self.collection)
        messages.success(request, _("“{name}” was deleted.").format(name=name))
        return redirect("library")
