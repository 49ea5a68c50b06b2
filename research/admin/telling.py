"""How the admin tells what a row holds: statuses, lengths of time, JSON, links."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import Model
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.text import slugify

from research.templatetags.research import duration, word

NOTHING = "–"
LONGEST = 200_000  # characters of a text that a page shows


def state(status: str) -> SafeString | str:
    """Return a status in words, with a class for its colour."""
    if not status:
        return NOTHING
    return format_html('<span class="state state-{}">{}</span>', slugify(status), word(status))


def took(start: datetime | None, end: datetime | None) -> str:
    """Return how long something took, or has taken so far."""
    if start is None:
        return NOTHING
    ms = ((end or timezone.now()) - start).total_seconds() * 1000
    return duration(max(0, round(ms))) + ("" if end else " …")


def moment(at: datetime | None) -> str:
    """Return a time to the minute, so that it fits into a column."""
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M}" if at else NOTHING


def line(text: str, longest: int = 100) -> str:
    """Return a text on one line, cut."""
    told = " ".join(text[: longest * 2].split())
    return told if len(told) <= longest else told[: longest - 1] + "…"


def as_json(value: Any) -> SafeString:
    """Return a value as JSON for people."""
    return whole(json.dumps(value, indent=2, ensure_ascii=False))


def whole(text: str) -> SafeString:
    """Return a long text as it is, cut where no page should be longer."""
    cut = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    return format_html('<pre class="told">{}</pre>', cut)


def link_to(row: Model | None) -> SafeString | str:
    """Return a link to a row's page in the admin."""
    if row is None:
        return NOTHING
    meta = row._meta
    href = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', href, line(str(row), 60) or row.pk)


def list_of(model: type[Model], label: Any, **where: Any) -> SafeString:
    """Return a link to a list in the admin, filtered."""
    meta = model._meta
    href = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
    return format_html('<a href="{}?{}">{}</a>', href, urlencode(where), label)


def links(addresses: Mapping[str, Any]) -> SafeString:
    """Return links in a row, by address."""
    return format_html_join(" · ", '<a href="{}">{}</a>', addresses.items())
