"""Pieces: the run page as a flat, ordered list of fragments, a pure function of `RunState`.

The page is these pieces, put into their containers; what the websocket sends is the same pieces,
those that changed. `changed` is the `seq` of the last event that a piece depends on in any way, so
that a piece and its `changed` name one text for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .facts import Facts
from .overview import overview
from .piece import Piece
from .report import evidence, report
from .timeline import item, other_lanes, task_lane


@dataclass(frozen=True)
class Page(Facts):
    """Makes the pieces of a state; with `lanes`, only those of these lanes' own page."""

    lanes: frozenset[str] | None = None

    def pieces(self, after: int = -1) -> Iterator[Piece]:
        """Yield the pieces in the order of the page, each after what it stands in.

        Many of those that are as they were at `after` are left out: a long run has hundreds.
        """
        quiet = after if after >= self.joined else -1
        whole = self.lanes is None
        if whole:
            yield from overview(self)
            yield from other_lanes(self)
        for task in self.state.tasks.values():
            if self._shows(task.stream_token or ""):
                yield from task_lane(self, task, alone=not whole)
        for card in self.state.timeline():
            if card.changed > quiet and self._shows(self.token(card)) and (one := item(self, card)):
                yield one
        if whole:
            yield from report(self)
            yield from evidence(self, quiet)

    def gone(self, after: int) -> Iterator[str]:
        """Yield ids that may be on a page rendered at `after` and stand for nothing now."""
        for key, seq in self.state.dropped.items():
            if seq > after:
                kind, _, rest = key.partition(":")
                yield from (f"{prefix}-{rest}" for prefix in PREFIXES.get(kind, ()))
        for message in self.state.messages.values():
            section = self.state.sections.get(message.section or 0)
            if message.kind == "section" and section and section.born > after:
                yield f"msg-{message.message_id}"

    def _shows(self, token: str) -> bool:
        return self.lanes is None or token in self.lanes


PREFIXES = {
    "tool": ("tool",),
    "message": ("msg", "line"),
    "note": ("note", "notecard"),
    "section": ("section",),
    "source": ("source",),
    "moment": ("moment",),
}
"""Which pieces go with a card of each kind."""
