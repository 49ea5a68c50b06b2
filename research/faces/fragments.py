"""Fragments: pieces as HTML, for the page and for the websocket alike.

No user, no token and no clock goes into one: it is rendered once for everybody who watches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.template.loader import get_template
from django.urls import reverse
from django.utils import translation
from django.utils.safestring import SafeString, mark_safe

from research.rendering import streaming
from research.state import RunState

from .cache import Cache
from .piece import Piece
from .pieces import Page

LANGUAGES = dict(settings.LANGUAGES)
LANES = {"task": "timeline", "member": "team_lanes"}
"""The container of the lanes, for each way to group the timeline. A page has one of them."""

_rendered = Cache(16 * 1024 * 1024)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which history of which run, and for readers of which language."""

    run_id: UUID
    epoch: str
    locale: str

    @classmethod
    def of(cls, run_id: UUID, epoch: str, locale: str) -> Scope:
        """Return the scope; a language that is not spoken here becomes English."""
        locale = locale.lower()
        return cls(run_id, epoch, locale if locale in LANGUAGES else "en")


def render(scope: Scope, piece: Piece, inside: Mapping[str, str] | None = None) -> SafeString:
    """Return a piece as HTML; `inside` is what stands in its containers."""
    key = (scope, piece.id, piece.template, piece.changed)
    if not inside and (known := _rendered.get(key)) is not None:
        return mark_safe(known)
    context: dict[str, Any] = {
        **piece.data,
        "id": piece.id,
        "order": piece.order,
        "run_id": scope.run_id,
        "base": reverse("run", args=[scope.run_id]),
        "holds": [(name, (inside or {}).get(name, "")) for name in piece.holds],
    }
    with translation.override(scope.locale):
        html = get_template(f"research/cards/{piece.template}.html").render(context).strip()
    if not inside:
        _rendered.put(key, html)
    return mark_safe(html)


def containers(scope: Scope, pieces: Iterable[Piece], group: str = "task") -> dict[str, SafeString]:
    """Return what stands in each container of a page whose timeline is grouped in this way."""
    other = {LANES[name] for name in LANES if name != group}
    into: dict[str, list[Piece]] = defaultdict(list)
    for piece in pieces:
        container = piece.container(group)
        if container in other:
            other.update(piece.holds)
        else:
            into[container].append(piece)
    html: dict[str, SafeString] = {}

    def fill(container: str) -> SafeString:
        parts = []
        for piece in sorted(into[container], key=lambda piece: piece.order):
            inside = {name: fill(name) for name in piece.holds}
            parts.append(render(scope, piece, inside))
        html[container] = mark_safe("".join(parts))
        return html[container]

    held = {name for standing in into.values() for piece in standing for name in piece.holds}
    for container in set(into) - held:
        fill(container)
    return html


def ops(
    scope: Scope, state: RunState, after: int, lanes: frozenset[str] | None = None
) -> list[dict[str, Any]]:
    """Return what makes a page that shows the state at `after` show this state."""
    page = Page(state, lanes)
    found: list[dict[str, Any]] = []
    for piece in page.pieces(after):
        if piece.changed <= after:
            continue
        if piece.message and piece.settled <= after:
            shown = len(streaming(_text(state, piece, after)))
            if text := streaming(state.text_of(piece.message))[shown:]:
                found.append({"op": "text", "id": piece.id, "text": text})
        else:
            html = render(scope, piece)
            op = {"op": "put", "id": piece.id, "into": piece.into, "html": html}
            found.append(op | {"by": piece.by} if piece.by else op)
    if gone := set(page.gone(after)):
        gone -= {piece.id for piece in page.pieces()}
    return [{"op": "drop", "id": name} for name in sorted(gone)] + found


def _text(state: RunState, piece: Piece, upto: int) -> str:
    """Return the text of a message as it was at `upto`."""
    pieces = state.texts.get(piece.message, ())
    return "".join(text for seq, text in pieces if seq <= upto)
