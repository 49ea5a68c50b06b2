"""The lines face: each event's very text on a line of its own, as programs in a pipe read it.

For followers of this process alone. It is not registered: a socket's frames are envelopes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..feed import Feed
from ..log import Record
from .base import Frame, View


class LinesFace:
    """Newline-delimited JSON."""

    name = "lines"

    async def frame(
        self, feed: Feed, view: View, after: int, records: Sequence[Record], most: int
    ) -> Frame:
        """Return the records that the filter shows, a line each."""
        texts = [record.text for record in records if view.filter(record)]
        return Frame("\n".join(texts), records[-1].seq, len(texts), len(records))

    def empty(self, view: View, after: int, upto: int) -> str:
        """Return no line."""
        return ""
