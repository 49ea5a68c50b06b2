"""Why a file was left out."""

from __future__ import annotations

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

REASONS = {
    "bad_name": _("Its name has no letter that can be kept."),
    "binary": _("It is not a text, though its name says so."),
    "broken": _("The file is damaged: it cannot be opened."),
    "empty": _("The file is empty."),
    "no_text": _("There is no text in it."),
    "protected": _("It is protected by a password. Save a copy without one."),
    "scanned": _("Its pages are pictures without text. Let a program recognise the text first."),
    "too_large": _("The file is larger than {detail} MB."),
    "too_long": _("It has more than {detail} pages. Split it."),
    "too_slow": _("Reading it took too long."),
    "unpacks_too_large": _("It would unpack to more than can be read."),
    "unsupported": _("Files of the kind “{detail}” cannot be read."),
}
"""A sentence for a person, by its code."""


class Unreadable(Exception):
    """The file cannot be read as a document; the message says why, for a person.

    Its arguments are plain text, so that it may come out of a process of its own; the words are
    found where it is shown, in the language of whoever reads them.
    """

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail

    def __str__(self) -> str:
        reason = REASONS.get(self.code)
        return str(format_lazy(reason, detail=self.detail)) if reason is not None else self.code
