"""Event: the envelope, and the closed vocabulary of types with the data of each.

The vocabulary is the table `DATA`: a type's data is a frozen pydantic model, strict when we write
(`extra="forbid"`) and lenient when we read. An event is encoded once, here, and that very text is
stored and sent. `seq` is spliced in by the log, in the transaction that inserts.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import msgspec
from pydantic import BaseModel, ConfigDict

from .exceptions import EventTooLarge
from .members import Role

VERSION = 1
BLOB_PREVIEW = 2048
ENVELOPE = 192  # the most bytes of an event around its voice and its data
DATA: dict[str, type[Data]] = {}  # filled by streaming.vocabulary
TERMINAL = {"run.completed": "completed", "run.failed": "failed", "run.cancelled": "cancelled"}

Ended = Literal["completed", "failed", "cancelled", "interrupted"]


class BlobRef(BaseModel):
    """Where the whole of a long text is: its SHA-256 and its length in code points."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hash: str
    length: int


class Data(BaseModel):
    """The `data` of one type of event. A subclass names its type: `class X(Data, type="x.y")`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: ClassVar[str] = ""
    long: ClassVar[str] = ""  # the field whose text may be kept as a blob

    def __init_subclass__(cls, type: str = "", long: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.type, cls.long = type, long
        if type:
            DATA[type] = cls

    def encode(self) -> str:
        """Return the data as JSON, without the keys that are not set."""
        # What model_dump_json() does, without its many parameters: this is done for each token.
        return self.__pydantic_serializer__.to_json(self, exclude_none=True).decode()

    def shortened(self) -> tuple[Self, Long | None]:
        """Return this with its long text cut to a preview, and the text to keep as a blob."""
        text = getattr(self, self.long, "") if self.long else ""
        if not text:
            return self, None
        blob = Long.of(text)
        preview = text.encode()[:BLOB_PREVIEW].decode(errors="ignore")
        ref = BlobRef(hash=blob.hash, length=len(text))
        return self.model_copy(update={self.long: preview, "blob": ref}), blob


@dataclass(frozen=True, slots=True)
class Long:
    """A text that is kept as a blob."""

    hash: str
    text: str

    @classmethod
    def of(cls, text: str) -> Long:
        """Return the text with its address."""
        return cls(hashlib.sha256(text.encode()).hexdigest(), text)


@dataclass(frozen=True)
class Voice:
    """Who speaks, and where: everything in an envelope that stays the same from event to event."""

    source_member: str | None = None
    role: Role | None = None
    stream_token: str | None = None
    step: int | None = None
    task_id: int | None = None
    agent_id: str | None = None
    parent_id: str | None = None
    work: str | None = None
    attempt: int | None = None

    @cached_property
    def encoded(self) -> str:
        """Return the set fields as the inside of a JSON object, with a comma behind."""
        fields = {key: value for key in VOICE_KEYS if (value := getattr(self, key)) is not None}
        return msgspec.json.encode(fields).decode()[1:-1] + "," if fields else ""

    @cached_property
    def columns(self) -> tuple[str, str, str, int]:
        """Return lane, member, work and attempt as the log's columns hold them."""
        lane, member = self.stream_token or "", self.source_member or ""
        return lane, member, self.work or "", self.attempt or 0

    def within(self, **changes: Any) -> Voice:
        """Return this voice with some of it changed."""
        return replace(self, **changes)


VOICE_KEYS = tuple(Voice.__dataclass_fields__)


@dataclass(slots=True)
class Draft:
    """An event that has no `seq` yet, already encoded."""

    type: str
    voice: Voice
    data: str
    blob: Long | None = None
    ts: int = field(default_factory=lambda: time.time_ns() // 1_000_000)

    def encode(self, seq: int) -> str:
        """Return the event as the text that is stored and sent."""
        return (
            f'{{"v":{VERSION},"seq":{seq},"ts":{self.ts},"type":"{self.type}",'
            f'{self.voice.encoded}"data":{self.data}}}'
        )


def draft(voice: Voice, data: Data, *, type: str = "", limit: int = 65_536) -> Draft:
    """Encode an event; where it would pass `limit` bytes, its long text becomes a blob.

    `type` is needed for `custom.*` only. Raises `EventTooLarge` where that does not help.
    """
    text, blob = data.encode(), None
    room = limit - ENVELOPE - 4 * len(voice.encoded)
    if len(text) > room or (not text.isascii() and len(text.encode()) > room):
        data, blob = data.shortened()
        text = data.encode()
        if len(text.encode()) > room:
            raise EventTooLarge(f"An event of type {type or data.type} is too large.")
    return Draft(type or data.type, voice, text, blob)


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """One immutable fact, as it is read back. `data` is what its type says; see `DATA`."""

    v: int
    seq: int
    ts: int
    type: str
    data: dict[str, Any]
    stream_token: str | None = None
    step: int | None = None
    task_id: int | None = None
    source_member: str | None = None
    role: Role | None = None
    agent_id: str | None = None
    parent_id: str | None = None
    work: str | None = None
    attempt: int | None = None

    @property
    def voice(self) -> Voice:
        """Return who spoke, and where."""
        return Voice(**{key: getattr(self, key) for key in VOICE_KEYS})


_decoder = msgspec.json.Decoder(Event)


def decode(text: str) -> Event:
    """Read a stored event back. Keys that are not known are ignored."""
    return _decoder.decode(text)
