"""What the log says, in the reader's language."""

from __future__ import annotations

from django import template

from research import errors

register = template.Library()


@register.filter
def in_words(text: str, code: str | None = None) -> str:
    """Return a sentence of the log as the reader understands it."""
    return errors.in_words(text, code)
