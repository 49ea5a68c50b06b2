"""Citations as links: a number in the report, a small mark in notes and messages."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.template.loader import get_template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from research.cards import CitationCard, SourceCard
from research.text.markers import Marker


def address(base: str, source_id: int, start: int | None, end: int | None) -> str:
    """Return where a passage is shown in its source."""
    page = f"{base}sources/{source_id}/"
    if start is None or end is None:
        return page
    return f"{page}?{urlencode({'start': start, 'end': end})}#quote"


def link_to(base: str, marker: Marker) -> SafeString:
    """Return the small link that stands for a marker."""
    return format_html(
        '<a class="marker" href="{}" aria-label="{}">S{}</a>',
        address(base, marker.source, marker.start, marker.end),
        _("Source S%d") % marker.source,
        marker.source,
    )


def superscript(
    base: str, ref: dict[str, Any], source: SourceCard | None, check: CitationCard | None
) -> str:
    """Return a citation: a raised number that leads to the passage, and a card that tells of it."""
    start = check.start if check else ref.get("start")
    end = check.end if check else ref.get("end")
    context = {
        "number": ref["number"],
        "href": address(base, ref["source_id"], start, end),
        "source": source,
        "check": check,
    }
    return get_template("research/citation.html").render(context).strip()
