"""What the controls of a run show that is not in its log: the runs it came from and led to."""

from __future__ import annotations

from uuid import uuid4

from django import template
from django.utils.translation import gettext as _

from research.models import Run

register = template.Library()
MOST = 10


@register.simple_tag
def new_key() -> str:
    """Return an idempotency key, for a form that may be sent twice."""
    return uuid4().hex


@register.simple_tag
def relatives(run: Run) -> list[tuple[str, Run]]:
    """Return the run that this one follows, and those that follow it, of the same user."""
    parent = Run.objects.filter(pk=run.parent_id, user=run.user_id).first()
    found = [(_("Follows"), parent)] if parent else []
    children = Run.objects.filter(parent=run, user=run.user_id).order_by("created_at")[:MOST]
    return found + [(_("Led to"), child) for child in children]
