"""The html face: the fragments of the page that changed, in place of the events that changed them.

It is a face of the state: one frame covers all from where the follower stands to where the state
is. Followers that stand at the same place share one frame's body, rendered off the loop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from research.state import RunState
from streaming.faces import Frame, View, register
from streaming.feed import Feed
from streaming.log import Record
from streaming.runtime import current

from .cache import Cache
from .fragments import Scope, ops

Key = tuple[Scope, int, int, frozenset[str] | None]


class HtmlFace:
    """Sends operations on the page: put a fragment, add text to one, drop one."""

    name = "html"

    def __init__(self) -> None:
        self._bodies = Cache(8 * 1024 * 1024)
        self._making: dict[Key, asyncio.Future[str]] = {}

    async def frame(
        self, feed: Feed, view: View, after: int, records: Sequence[Record], most: int
    ) -> Frame:
        """Return the frame that makes a page at `after` show the present state."""
        state = await feed.state()
        scope = Scope.of(feed.stream_id, feed.epoch, view.locale)
        key = (scope, after, state.seq, view.filter.stream_token)
        body = self._bodies.get(key) or await self._shared(key, state)
        count, _, listed = body.partition(" ")
        text = self._envelope(view, after, state.seq, listed)
        return Frame(text, state.seq, int(count), len(records))

    async def _shared(self, key: Key, state: RunState) -> str:
        """Make a body once, however many wait for it."""
        making = self._making.get(key)
        if making is None:
            making = self._making[key] = asyncio.ensure_future(self._make(key, state))
            making.add_done_callback(lambda _: self._making.pop(key, None))
        return await asyncio.shield(making)

    async def _make(self, key: Key, state: RunState) -> str:
        runtime = current()
        assert runtime, "Somebody follows, so the runtime is started."
        body = await runtime.readers.run(_body, key, state)
        self._bodies.put(key, body)
        return body

    def empty(self, view: View, after: int, upto: int) -> str:
        """Return the frame without operations."""
        return self._envelope(view, after, upto, "[]")

    @staticmethod
    def _envelope(view: View, after: int, upto: int, listed: str) -> str:
        return (
            f'{{"type":"events","sub":"{view.sub}","after":{after},"upto":{upto},"ops":{listed}}}'
        )


def _body(key: Key, state: RunState) -> str:
    """Return the number of operations, and the operations as JSON."""
    scope, after, _, lanes = key
    found = ops(scope, state, after, lanes)
    return f"{len(found)} {json.dumps(found, ensure_ascii=False)}"


register(HtmlFace())
