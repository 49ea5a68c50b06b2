"""Notes: read here, and changed by the same actions as on the Notes page."""

from __future__ import annotations

from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from research.actions import notes as actions
from research.engine.work import apply, do
from research.errors import answer
from research.forms import NoteForm as WrittenForm
from research.forms import moment_of, tags_of
from research.models import Note
from streaming.exceptions import BadRequest, StreamingError

from .counting import recent
from .reading import RowsOfRun
from .telling import line, moment

kind_of = WrittenForm.kind


class NoteForm(forms.ModelForm[Note]):
    """A note as staff write it."""

    tags = forms.CharField(
        label=_("Tags"), required=False, max_length=2_000, help_text=_("With commas between them")
    )
    seen = forms.CharField(label="", widget=forms.HiddenInput, required=False, max_length=40)

    class Meta:
        model = Note
        fields = ["title", "note_type", "tags", "content"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["tags"] = ", ".join(self.instance.tags)
            self.initial["seen"] = self.instance.updated_at.isoformat()

    def clean_tags(self) -> list[str]:
        """Return the tags one by one."""
        return tags_of(self.cleaned_data["tags"])

    def clean(self) -> dict[str, Any]:
        """Ask of the note what is asked of it on the Notes page."""
        given = super().clean() or {}
        if {"title", "content", "note_type", "tags"} <= set(given):
            try:
                self.written = actions.Written.of(
                    given["title"], given["content"], given["note_type"], given["tags"]
                )
            except BadRequest as error:
                raise forms.ValidationError(answer(error)) from None
        return given


@admin.register(Note)
class NoteAdmin(RowsOfRun):
    """Notes."""

    form = NoteForm
    list_display = ["title_line", "of_run", "told_kind", "member", "told_tags", "created",
                    "changed"]  # fmt: skip
    list_filter = [recent("note_type", _("kind"), kind_of), "created_at"]
    search_fields = ["title", "content", "member", "run__topic", "=run__stream__id"]
    search_help_text = _("Words of the note or the question, a member, or a run's id")
    ordering = ["-pk"]
    late = ("content", "run__options", "run__error_message")
    fields = ["title", "note_type", "tags", "content", "seen", "of_run", "of_task", "note_id",
              "member", "work", "attempt", "created_at", "updated_at"]  # fmt: skip
    readonly_fields = ["of_run", "of_task", "note_id", "member", "work", "attempt", "created_at",
                       "updated_at"]  # fmt: skip

    @admin.display(description=_("title"), ordering="title")
    def title_line(self, note: Note) -> str:
        """Return the title, cut."""
        return line(note.title, 80)

    @admin.display(description=_("changed"), ordering="updated_at")
    def changed(self, note: Note) -> str:
        """Return when it was changed last."""
        return moment(note.updated_at)

    @admin.display(description=_("tags"))
    def told_tags(self, note: Note) -> str:
        """Return the tags."""
        return line(", ".join(map(str, note.tags)), 60)

    @admin.display(description=_("kind"), ordering="note_type")
    def told_kind(self, note: Note) -> str:
        """Return what sort of note it is."""
        return kind_of(note.note_type)

    # --- who may --------------------------------------------------------------------------------
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Let those change notes who have the permission."""
        return admin.ModelAdmin.has_change_permission(self, request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Let those delete notes who have the permission."""
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    # --- what happens ---------------------------------------------------------------------------
    def save_model(self, request: HttpRequest, obj: Note, form: Any, change: bool) -> None:
        """Change it as a person does: in the log while its run goes on, else in its row alone."""
        by, seen = request.user.get_username(), moment_of(form.cleaned_data["seen"])
        do(partial(apply, obj.run_id, actions.edit(by, obj.note_id, form.written, seen)))

    def delete_model(self, request: HttpRequest, obj: Note) -> None:
        """Delete it as a person does."""
        do(partial(apply, obj.run_id, actions.remove(request.user.get_username(), obj.note_id)))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Note]) -> None:
        """Delete each as a person does."""
        for note in queryset.order_by("run", "pk"):
            self.delete_model(request, note)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Say why a note was not changed."""
        return self._or_say(request, super().changeform_view, *args, **kwargs)

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Say why a note was not deleted."""
        return self._or_say(request, super().delete_view, *args, **kwargs)

    def _or_say(self, request: HttpRequest, view: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response: HttpResponse = view(request, *args, **kwargs)
        except StreamingError as error:
            self.message_user(request, answer(error), messages.ERROR)
            return redirect(request.path)
        return response
