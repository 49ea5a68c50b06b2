"""Notes: what the members of all one's research wrote down, to find, to add to and to keep."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.mixins import LoginRequiredMixin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.generic import ListView, TemplateView, View

from research import rendering
from research.actions import notes as actions
from research.actions.change import Action
from research.engine.work import apply, do
from research.errors import answer
from research.faces.citations import link_to
from research.forms import NoteForm
from research.models import Note, Run, Source
from research.text.markers import Marker, find_markers
from streaming.exceptions import Conflict, NotFound, StreamingError

from .note_filter import NoteFilter
from .notes_markdown import as_markdown

SHOWN = 1_200  # characters of a note in the list
RUNS = 200  # that a new note can be about


@dataclass(frozen=True, slots=True)
class Shown:
    """A note as it is shown: its text as HTML, the markers as links to sources that are there."""

    note: Note
    html: SafeString
    kind: str
    base: str
    whole: bool

    @property
    def by_person(self) -> bool:
        """Tell whether a person wrote it, and no member of the team."""
        return not self.note.work

    @property
    def edited(self) -> bool:
        """Tell whether it was changed after it was written."""
        return (self.note.updated_at - self.note.created_at).total_seconds() > 1


def shown(rows: list[Note], longest: int | None = None) -> list[Shown]:
    """Return notes as they are shown, with one query for all their sources."""
    texts = [row.content if longest is None else _begin(row.content, longest) for row in rows]
    numbers = {m.marker.source for text in texts for m in find_markers(text)}
    there = Source.objects.filter(run__in={row.run_id for row in rows}, source_id__in=numbers)
    known = set(there.exclude(finders=[]).values_list("run_id", "source_id"))
    return [_shown(row, text, known) for row, text in zip(rows, texts, strict=True)]


def _begin(text: str, longest: int) -> str:
    return rendering.shortened(text, longest)


def _shown(note: Note, text: str, known: set[tuple[UUID, int]]) -> Shown:
    base = reverse("run", args=[note.run_id])

    def link(marker: Marker) -> str:
        here = (note.run_id, marker.source) in known
        return link_to(base, marker) if here else f"S{marker.source}"

    html = rendering.markdown(text, link=link)
    return Shown(note, html, NoteForm.kind(note.note_type), base, text == note.content)


# --- read ---------------------------------------------------------------------------------------
@method_decorator(never_cache, name="dispatch")
class Notes(LoginRequiredMixin, ListView[Note]):
    """All of a person's notes; those that `q`, `run`, `kind` and `tag` ask for."""

    template_name = "research/notes.html"
    paginate_by = 20

    def get_queryset(self) -> QuerySet[Note]:
        """Return the notes that are meant: their keys, so that no text is sorted along."""
        self.filter = NoteFilter.of(self.request.user, self.request.GET)
        return self.filter.notes.only("pk")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the notes as they are shown, and what may be chosen."""
        context = super().get_context_data(filter=self.filter, **kwargs)
        keys = [note.pk for note in context["page_obj"]]
        rows = Note.objects.select_related("run", "task").in_bulk(keys)
        context["notes"] = shown([rows[key] for key in keys if key in rows], SHOWN)
        context["kinds"] = [(kind, NoteForm.kind(kind)) for kind in self.filter.kinds]
        context["can_write"] = Run.objects.visible_to(self.request.user).exists()
        return context


@method_decorator(never_cache, name="dispatch")
class NotesMarkdown(LoginRequiredMixin, View):
    """The notes that are meant, as one file of Markdown."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Return the file."""
        found = NoteFilter.of(request.user, request.GET)
        response = HttpResponse(as_markdown(found.notes), "text/markdown; charset=utf-8")
        name = f"notes-{date.today().isoformat()}.md"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        response["X-Content-Type-Options"] = "nosniff"
        return response


# --- change -------------------------------------------------------------------------------------
class OfNote(LoginRequiredMixin):
    """A page of one note. A note that is not of one's own run is not there."""

    request: Any
    kwargs: dict[str, Any]

    @property
    def note(self) -> Note:
        """Return the note."""
        mine = NoteFilter(self.request.user).mine.select_related("run", "task")
        return get_object_or_404(mine, pk=self.kwargs["note"])


@method_decorator(never_cache, name="dispatch")
class NotePage(OfNote, TemplateView):
    """A note, whole."""

    template_name = "research/note.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the note."""
        return super().get_context_data(item=shown([self.note])[0], **kwargs)


@method_decorator(never_cache, name="dispatch")
class NewNote(LoginRequiredMixin, View):
    """Write a note of one's own about a run."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Show the form; `?run=` chooses what it is about."""
        chosen = NoteFilter.of(request.user, request.GET).run
        form = NoteForm(runs=self._runs(request, chosen), initial={"run": chosen})
        return render(request, "research/note_edit.html", {"form": form})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Write it, or show what was wrong."""
        chosen = NoteFilter.of(request.user, request.POST).run
        form = NoteForm(request.POST, runs=self._runs(request, chosen))
        if not form.is_valid():
            return render(request, "research/note_edit.html", {"form": form}, status=422)
        try:
            action = actions.add(request.user.get_username(), form.written())
            note = _do(form.cleaned_data["run"].pk, action)
        except StreamingError as error:
            form.add_error(None, answer(error))
            return render(request, "research/note_edit.html", {"form": form}, status=422)
        messages.success(request, _("The note is written."))
        return redirect("note", note.pk)

    @staticmethod
    def _runs(request: HttpRequest, chosen: UUID | None) -> QuerySet[Run]:
        mine = Run.objects.visible_to(request.user)
        newest = list(mine.order_by("-created_at").values_list("pk", flat=True)[:RUNS])
        return mine.filter(pk__in=[*newest, *([chosen] if chosen else [])])


@method_decorator(never_cache, name="dispatch")
class EditNote(OfNote, View):
    """Change a note."""

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Show the form."""
        note = self.note
        return self._form(note, NoteForm(note=note))

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Change it, or show what was wrong."""
        note = self.note
        form = NoteForm(request.POST, note=note)
        if not form.is_valid():
            return self._form(note, form, 422)
        by, seen = request.user.get_username(), form.cleaned_data["seen"]
        try:
            _do(note.run_id, actions.edit(by, note.note_id, form.written(), seen))
        except NotFound as error:
            raise Http404(error.message) from None
        except Conflict:
            again = request.POST.copy()
            again["seen"] = note.updated_at.isoformat()
            form = NoteForm(again, note=note)
            form.add_error(None, _("This note was changed while you wrote. Save again to replace "
                                   "what it says now by what stands below."))  # fmt: skip
            return self._form(note, form, 409)
        except StreamingError as error:
            form.add_error(None, answer(error))
            return self._form(note, form, 422)
        messages.success(request, _("The note is saved."))
        return redirect("note", note.pk)

    def _form(self, note: Note, form: NoteForm, status: int = 200) -> HttpResponse:
        context = {"form": form, "note": note}
        return render(self.request, "research/note_edit.html", context, status=status)


@method_decorator(never_cache, name="dispatch")
class DeleteNote(OfNote, View):
    """Delete a note, once it is confirmed."""

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Ask."""
        return render(request, "research/note_delete.html", {"note": self.note})

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Delete it."""
        note = self.note
        try:
            _do(note.run_id, actions.remove(request.user.get_username(), note.note_id))
        except NotFound as error:
            raise Http404(error.message) from None
        messages.success(request, _("The note is deleted."))
        return redirect("notes")


def _do(run_id: UUID, action: Action) -> Any:
    return do(partial(apply, run_id, action)).value
