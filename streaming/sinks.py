"""Sinks: where a handler's events go: to the log, or nowhere (a queue: `queue_sink`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from . import vocabulary as v
from .commits import Append
from .conf import Conf
from .events import Data, Draft, Voice, draft
from .exceptions import LogError
from .log import Claim
from .writer import EventWriter

PIECE = 8_000  # code points of one text delta: in the worst case of escaping still an event
TOGETHER = 64  # events that are handed to the writer as one
Delta = v.MessageDelta | v.ReasoningDelta
DELTAS = (v.MessageDelta, v.ReasoningDelta)


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
    waiting text; what is said within one turn of the loop goes to the writer together.
    """

    def __init__(
        self,
        writer: EventWriter,
        stream_id: UUID,
        conf: Conf,
        claim: Claim | None = None,
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        self._writer = writer
        self._stream_id = stream_id
        self._conf = conf
        self._claim = claim
        self._tell = failed
        self._loop = asyncio.get_running_loop()
        self._texts: dict[tuple[Voice, type[Delta], str], list[str]] = {}
        self._text_timer: asyncio.TimerHandle | None = None
        self._said: list[Draft] = []
        self._said_soon: asyncio.Handle | None = None
        self.error: Exception | None = None

    async def emit(self, voice: Voice, data: Data, type: str = "") -> None:
        """Take the event; raise what made an earlier one fail. It waits while the FIFO is full."""
        self._check()
        if isinstance(data, DELTAS) and (self._conf.merge_ms or len(data.delta) > PIECE):
            many = self._merge(voice, data)
        else:
            if self._texts:
                self._push_texts(voice.source_member)
            self._say(draft(voice, data, type=type, limit=self._conf.event_bytes))
            many = len(self._said) >= TOGETHER
        if many or self._writer.is_full():
            self._hand_over()
            await self._writer.room()
            await asyncio.sleep(0)  # whoever never waits must not keep the loop from followers

    def push(self) -> None:
        """Hand the writer all that was said; raise what made an earlier event fail."""
        self._check()
        self._push_texts(None)
        self._hand_over()

    async def flush(self) -> None:
        """Wait until all that was said is committed."""
        self.push()
        await self._writer.drained()
        await asyncio.sleep(0)  # an error of the writer comes by the loop
        self._check()

    # --- text ----------------------------------------------------------------------------------
    def _merge(self, voice: Voice, data: Delta) -> bool:
        """Let a piece of text wait for company; tell whether there was enough of it."""
        pieces = self._texts.setdefault((voice, data.__class__, data.message_id), [])
        pieces.append(data.delta)
        if len(pieces) > 256:
            self._push_texts(voice.source_member)
            return True
        if self._text_timer is None:
            self._text_timer = self._loop.call_later(self._conf.merge_ms / 1000, self._text_is_due)
        return False

    def _text_is_due(self) -> None:
        self._text_timer = None
        self._push_texts(None)

    def _push_texts(self, member: str | None) -> None:
        """Say the waiting text of a member, or of all."""
        for key in [key for key in self._texts if member in (None, key[0].source_member)]:
            voice, kind, message_id = key
            text = "".join(self._texts.pop(key))
            for start in range(0, len(text), PIECE):
                piece = kind(message_id=message_id, delta=text[start : start + PIECE])
                self._say(draft(voice, piece, limit=self._conf.event_bytes))

    # --- to the writer -------------------------------------------------------------------------
    def _say(self, item: Draft) -> None:
        self._said.append(item)
        if self._said_soon is None:
            self._said_soon = self._loop.call_soon(self._hand_over)

    def _take(self) -> Append:
        said, self._said = self._said, []
        if self._said_soon:
            self._said_soon.cancel()
            self._said_soon = None
        return Append(self._stream_id, said, self._claim, self._failed)

    def _hand_over(self) -> None:
        """Queue what was said. It never waits: who speaks again finds the FIFO full, and does."""
        if self._said and not self.error:
            try:
                self._writer.put(self._take())
            except LogError as error:
                self._fail(error)

    # --- errors --------------------------------------------------------------------------------
    def _check(self) -> None:
        if self.error:
            raise self.error

    def _failed(self, error: Exception) -> None:
        """Take the writer's word, on its thread, that something could not be written."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._fail, error)

    def _fail(self, error: Exception) -> None:
        if self.error is None:
            self.error = error
            if self._tell:
                self._tell(error)
