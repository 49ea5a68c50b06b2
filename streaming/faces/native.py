"""The native face: the events as they are stored."""

from __future__ import annotations

from collections.abc import Sequence

from ..conf import conf
from ..feed import Feed
from ..log import Record
from ..text import size as size_of
from .base import Frame, View, register


class NativeFace:
    """Sends each event's very text, as many as fit into a frame."""

    name = "native"

    async def frame(
        self, feed: Feed, view: View, after: int, records: Sequence[Record], most: int
    ) -> Frame:
        """Return as many of the records as the filter shows and a frame holds."""
        limits = conf()
        most = min(most, limits.frame_events)
        passes = view.filter if view.filter else None
        texts: list[str] = []
        size = taken = 0
        for record in records:
            if passes is None or passes(record):
                size += size_of(record.text)
                if texts and (len(texts) >= most or size > limits.frame_bytes):
                    break
                texts.append(record.text)
            taken += 1
        upto = records[taken - 1].seq
        return Frame(self._envelope(view, after, upto, ",".join(texts)), upto, len(texts), taken)

    def empty(self, view: View, after: int, upto: int) -> str:
        """Return the frame without events."""
        return self._envelope(view, after, upto, "")

    @staticmethod
    def _envelope(view: View, after: int, upto: int, events: str) -> str:
        return (
            f'{{"type":"events","sub":"{view.sub}","after":{after},"upto":{upto},'
            f'"events":[{events}]}}'
        )


register(NativeFace())
