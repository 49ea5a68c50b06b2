"""Piece: one fragment of the run page, before it is rendered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Piece:
    """One fragment of the page."""

    id: str
    into: str
    order: int
    template: str
    changed: int
    data: dict[str, Any] = field(default_factory=dict)
    message: str = ""
    """The message whose text grows at the end of this piece, if one does."""
    settled: int = 0
    """Since when everything but that text is as it is."""
    holds: tuple[str, ...] = ()
    """The containers inside it. Such a piece never changes."""
    by: str = ""
    """The container that it stands in where the timeline is grouped by member."""

    def container(self, group: str) -> str:
        """Return what it stands in on a page grouped by `task` or by `member`."""
        return self.by if group == "member" and self.by else self.into
