"""Notes."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from research.actions.notes import CONTENT_LENGTH, TITLE_LENGTH, Written
from research.models import Note, Run


class NoteForm(forms.Form):
    """A note, as a person writes it."""

    KINDS = {
        "general": _("General"),
        "conclusion": _("Conclusion"),
        "finding": _("Finding"),
        "reference": _("Reference"),
        "action": _("To do"),
        "blocker": _("Obstacle"),
        "task_state": _("State of a task"),
    }

    run = forms.ModelChoiceField(
        label=_("About which research"),
        queryset=Run.objects.none(),
        empty_label=None,
        error_messages={"required": _("Choose the research that the note is about.")},
    )
    title = forms.CharField(
        label=_("Title"),
        max_length=TITLE_LENGTH,
        error_messages={"required": _("Give the note a title.")},
    )
    content = forms.CharField(
        label=_("Text"),
        widget=forms.Textarea(attrs={"rows": 14, "aria-describedby": "content-hint"}),
        error_messages={"required": _("Write something first.")},
    )
    note_type = forms.ChoiceField(label=_("Kind"), required=False)
    tags = forms.CharField(
        label=_("Tags"),
        required=False,
        max_length=2_000,
        widget=forms.TextInput(attrs={"aria-describedby": "tags-hint"}),
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=40)

    def __init__(
        self, *args: Any, note: Note | None = None, runs: Any = None, **kwargs: Any
    ) -> None:
        if note:
            initial = {
                "title": note.title,
                "content": note.content,
                "note_type": note.note_type,
                "tags": ", ".join(note.tags),
                "seen": note.updated_at.isoformat(),
            }
            kwargs["initial"] = {**initial, **(kwargs.get("initial") or {})}
        super().__init__(*args, **kwargs)
        kinds = {**self.KINDS, **({note.note_type: self.kind(note.note_type)} if note else {})}
        kind: Any = self.fields["note_type"]
        kind.choices = list(kinds.items())
        if note:
            del self.fields["run"]
        else:
            run: Any = self.fields["run"]
            run.queryset = runs

    @classmethod
    def kind(cls, name: str) -> str:
        """Return what a kind of note is called."""
        return str(cls.KINDS.get(name) or name.replace("_", " ").capitalize())

    def clean_content(self) -> str:
        """Refuse a text that is too long; a browser's line ends count once."""
        content = str(self.cleaned_data["content"]).replace("\r\n", "\n")
        if len(content) > CONTENT_LENGTH:
            message = _("A note has at most %(most)d characters; this one has %(has)d.")
            numbers = {"most": CONTENT_LENGTH, "has": len(content)}
            raise forms.ValidationError(message, "too_long", numbers)
        return content

    def clean_seen(self) -> datetime | None:
        """Return when the note was changed last that the person had before them."""
        return moment_of(self.cleaned_data["seen"])

    def written(self) -> Written:
        """Return what was written."""
        given = self.cleaned_data
        tags = tags_of(given["tags"])
        return Written.of(given["title"], given["content"], given["note_type"], tags)


def tags_of(text: str) -> list[str]:
    """Return what stands between the commas of a text, in either script."""
    return [tag for part in re.split("[,，、;；]", text) if (tag := part.strip())]


def moment_of(text: str) -> datetime | None:
    """Return the moment that a hidden field holds; none where somebody wrote into it."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
