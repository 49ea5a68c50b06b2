"""What a person fills in."""

from __future__ import annotations

import re
import uuid
from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from .actions.notes import CONTENT_LENGTH, TITLE_LENGTH, Written
from .engine.work import TOPIC_LENGTH
from .library.names import visible
from .library.rights import may_share
from .models import Collection, Note, Run, Scope
from .options import RunOptions

SOURCES = {
    "library": _("Library"),
    "duckduckgo": _("The web"),
    "wikipedia": _("Wikipedia"),
    "arxiv": _("arXiv"),
}


class StartForm(forms.Form):
    """The composer: a question, and where to look."""

    topic = forms.CharField(
        label=_("Your question"),
        max_length=TOPIC_LENGTH,
        widget=forms.Textarea(
            attrs={
                "rows": 3,
                "placeholder": _("Ask anything that your sources can answer"),
                "aria-describedby": "composer-hint",
            }
        ),
        error_messages={"required": _("Ask a question first.")},
    )
    collection = forms.ModelChoiceField(
        label=_("Look in"),
        queryset=Collection.objects.none(),
        required=False,
        empty_label=_("Everything I may read"),
    )
    sources = forms.MultipleChoiceField(
        label=_("Sources"),
        widget=forms.CheckboxSelectMultiple,
        required=False,  # none means all of them
    )
    researchers = forms.TypedChoiceField(
        label=_("Researchers"),
        coerce=int,
        choices=[
            (1, _("1, quick")),
            (3, _("3, as usual")),
            (5, _("5, wide")),
            (8, _("8, widest")),
        ],
        required=False,
        empty_value=RunOptions().researchers,
    )
    key = forms.CharField(widget=forms.HiddenInput, max_length=200)

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        # A key of its own for each form that is shown: pressed twice, it starts one run.
        new = {
            "key": uuid.uuid4().hex,
            "researchers": RunOptions().researchers,
            "sources": settings.SEARCH_PROVIDERS,
        }
        kwargs["initial"] = {**new, **(kwargs.get("initial") or {})}
        super().__init__(*args, **kwargs)
        collection: Any = self.fields["collection"]
        collection.queryset = Collection.objects.readable_by(user).order_by("name")
        sources: Any = self.fields["sources"]
        sources.choices = [(name, SOURCES.get(name, name)) for name in settings.SEARCH_PROVIDERS]

    def options(self) -> RunOptions:
        """Return the options of the run that was asked for."""
        collection = self.cleaned_data["collection"]
        sources = self.cleaned_data["sources"]
        return RunOptions(
            sources=sources if 0 < len(sources) < len(settings.SEARCH_PROVIDERS) else None,
            collections=[collection.pk] if collection else None,
            researchers=self.cleaned_data["researchers"],
        )


class TokenForm(forms.Form):
    """An API token to be made."""

    name = forms.CharField(label=_("What it is for"), max_length=80, required=False)
    scopes = forms.MultipleChoiceField(
        label=_("It may"),
        choices=Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[Scope.READ_RUNS],
        error_messages={"required": _("Choose what the token may do.")},
    )
    days = forms.ChoiceField(
        label=_("It ends after"),
        choices=[
            ("7", _("7 days")),
            ("30", _("30 days")),
            ("90", _("90 days")),
            ("365", _("a year")),
            ("", _("never")),
        ],
        initial="90",
        required=False,
    )


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


class CollectionForm(forms.Form):
    """A collection of documents to be made, or another name for one."""

    name = forms.CharField(
        label=_("Name"),
        max_length=80,
        error_messages={"required": _("Give the collection a name.")},
    )
    shared = forms.BooleanField(label=_("Everybody on this site may read it"), required=False)

    def __init__(
        self, *args: Any, user: Any, collection: Collection | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.collection = collection
        if collection is not None or not may_share(user):
            del self.fields["shared"]

    def clean(self) -> dict[str, Any]:
        """Keep what can be seen of the name, and see that it is not taken."""
        cleaned: dict[str, Any] = super().clean() or {}
        name = visible(cleaned.get("name", ""))
        if not self.errors and not any(map(str.isalnum, name)):
            self.add_error("name", _("Give the collection a name."))
        same = Collection.objects.filter(name=name, owner=self.owner)
        if self.collection is not None:
            same = same.exclude(pk=self.collection.pk)
        if same.exists():
            self.add_error("name", _("There is a collection of that name already."))
        return {**cleaned, "name": name}

    @property
    def owner(self) -> Any:
        """Return whose it is: nobody's if everybody reads it."""
        if self.collection is not None:
            return self.collection.owner
        return None if self.data.get("shared") and "shared" in self.fields else self.user

    def make(self) -> Collection:
        """Make the collection; pressed twice, it is made once."""
        made: Collection
        made, _created = Collection.objects.get_or_create(
            name=self.cleaned_data["name"], owner=self.owner
        )
        return made

    def rename(self) -> None:
        """Give the collection its new name."""
        assert self.collection is not None
        self.collection.name = self.cleaned_data["name"]
        self.collection.save(update_fields=["name"])
