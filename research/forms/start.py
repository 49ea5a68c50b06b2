"""The composer."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from research.engine.work import TOPIC_LENGTH
from research.models import Collection
from research.options import RunOptions

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
        empty_value=str(RunOptions().researchers),
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
            researchers=int(self.cleaned_data["researchers"]),
        )
