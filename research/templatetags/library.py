"""How documents are told of: their kind and their size."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from research.library.names import suffix_of

register = template.Library()
KINDS = {
    ".pdf": _("PDF"),
    ".docx": _("Word"),
    ".md": _("Markdown"),
    ".markdown": _("Markdown"),
    ".html": _("HTML"),
    ".htm": _("HTML"),
    ".xhtml": _("HTML"),
    ".rst": _("reStructuredText"),
    ".rest": _("reStructuredText"),
}


@register.filter
def kind(path: str) -> str:
    """Return what kind of file a document was."""
    return str(KINDS.get(suffix_of(path), _("Text")))


@register.filter
def characters(number: int) -> str:
    """Return how long a text is."""
    return ngettext("{n} character", "{n} characters", number).format(n=f"{number:,}")


@register.filter
def documents(number: int) -> str:
    """Return how many documents there are."""
    return ngettext("{n} document", "{n} documents", number).format(n=f"{number:,}")
