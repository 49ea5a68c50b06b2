"""API tokens."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from research.models import Scope


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
