"""What a person fills in."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from .engine.work import TOPIC_LENGTH
from .models import Collection, Scope
from .options import RunOptions


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
    key = forms.CharField(widget=forms.HiddenInput, max_length=200)

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        # A key of its own for each form that is shown: pressed twice, it starts one run.
        kwargs["initial"] = {"key": uuid.uuid4().hex, **(kwargs.get("initial") or {})}
        super().__init__(*args, **kwargs)
        collection: Any = self.fields["collection"]
        collection.queryset = Collection.objects.readable_by(user).order_by("name")

    def options(self) -> RunOptions:
        """Return the options of the run that was asked for."""
        collection = self.cleaned_data["collection"]
        return RunOptions(collections=[collection.pk] if collection else None)


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
