"""Sinks: where a handler's events go: to the log, or nowhere (a queue: `queue_sink`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol
from uuid import UUID

from . import vocabulary as v
from .conf import Conf
from .events import Data, Voice, draft
from .exceptions import LogError
from .log import Claim
from .writer import Append, EventWriter

PIECE = 8_000  # code points of one text delta: in the worst case of escaping still an event
Delta = v.MessageDelta | v.ReasoningDelta


class Sink(Protocol):
    """Takes what a member says."""

    async def emit(self, voice: Voice, data: Data, type: str = "") -> None:
        """Take one event. `type` is given for `custom.*` only."""

    async def flush(self) -> None:
        """Hand on what still waits here."""


class Nowhere:
    """The sink of a handler that speaks to nobody."""

    async def emit(self, voice: Voice, data: Data, type: str = "") -> None:
        """Take it and forget it."""

    async def flush(self) -> None:
        """Do nothing."""


class LogSink:
    """Writes to a stream of the log, for the holder of a claim.

    Text deltas of one message wait a few milliseconds for company, before `seq` is given: replay
    equals live, and the log stays small. Everything else goes at once, after its own member's
    waiting text.
    """

    def __init__(
        self,
        writer: EventWriter,
        stream_id: UUID,
        limits: Conf,
        claim: Claim | None = None,
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        self._writer = writer
        self._stream_id = stream_id
        self._limits = limits
        self._claim = claim
        self._tell = failed
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[tuple[Voice, type[Delta], str], list[str]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._said = 0
        self.error: Exception | None = None

    async def emit(self, voice: Voice, data: Data, type: str = "") -> None:
        """Queue the event; raise what made an earlier one fail."""
        self._check()
        if isinstance(data, Delta) and self._limits.merge_ms:
            self._merge(voice, data)
        else:
            self._push(voice.source_member)
            item = draft(voice, data, type=type, limit=self._limits.event_bytes)
            await self._writer.append(self._item([item]))
        self._said += 1
        if self._said % 32 == 0:
            await asyncio.sleep(0)  # whoever never waits must not keep the loop from followers

    async def flush(self) -> None:
        """Queue the waiting text, and wait until all that was said is committed."""
        self.push()
        await self._writer.call(lambda: None)
        self._check()

    def push(self) -> None:
        """Queue the waiting text now; raise what made an earlier event fail."""
        self._check()
        self._push(None)

    def _check(self) -> None:
        if self.error:
            raise self.error

    def _merge(self, voice: Voice, data: Delta) -> None:
        pieces = self._waiting.setdefault((voice, type(data), data.message_id), [])
        pieces.append(data.delta)
        if len(pieces) > 256:
            self._push(voice.source_member)
        elif self._timer is None:
            self._timer = self._loop.call_later(self._limits.merge_ms / 1000, self._push, None)

    def _push(self, member: str | None) -> None:
        """Queue the waiting text of a member, or of all. It never waits: it is bounded."""
        if self._timer and (member is None or len(self._waiting) <= 1):
            self._timer.cancel()
            self._timer = None
        if not self._waiting:
            return
        due = [key for key in self._waiting if member in (None, key[0].source_member)]
        drafts = []
        for voice, kind, message_id in due:
            text = "".join(self._waiting.pop((voice, kind, message_id)))
            for start in range(0, len(text), PIECE):
                piece = kind(message_id=message_id, delta=text[start : start + PIECE])
                drafts.append(draft(voice, piece, limit=self._limits.event_bytes))
        if self._waiting and self._timer is None:
            self._timer = self._loop.call_later(self._limits.merge_ms / 1000, self._push, None)
        if drafts and not self.error:
            try:
                self._writer.put(self._item(drafts))
            except LogError as error:
                self._fail(error)

    def _item(self, drafts: list[Any]) -> Append:
        return Append(self._stream_id, drafts, self._claim, self._failed)

    def _failed(self, error: Exception) -> None:
        """Take the writer's word, on its thread, that something could not be written."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._fail, error)

    def _fail(self, error: Exception) -> None:
        if self.error is None:
            self.error = error
            if self._tell:
                self._tell(error)
