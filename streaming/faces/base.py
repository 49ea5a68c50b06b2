"""Face: a wire format. One file each; `follow()` knows none of them.

A face folds what a follower has not yet seen into one frame. It may leave out what its filter
hides, but says how far it got, so that the follower's cursor moves on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..feed import Feed
from ..log import Record


@dataclass(frozen=True, slots=True)
class Filter:
    """What a follower wants to see: OR within a key, AND across; an absent key hides nothing."""

    stream_token: frozenset[str] | None = None
    source_member: frozenset[str] | None = None

    def __call__(self, record: Record) -> bool:
        """Tell whether a record passes."""
        return (self.stream_token is None or record.stream_token in self.stream_token) and (
            self.source_member is None or record.source_member in self.source_member
        )

    def __bool__(self) -> bool:
        return self.stream_token is not None or self.source_member is not None


@dataclass(frozen=True, slots=True)
class View:
    """Whom a face speaks to: never a clock, never a user."""

    sub: str
    filter: Filter
    locale: str = "en"


@dataclass(frozen=True, slots=True)
class Frame:
    """What a face made of (after, upto]: the `text` to send, with how many `events` in it."""

    text: str
    upto: int
    events: int
    taken: int
    """How many of the records that it was given the frame covers."""


class Face(Protocol):
    """A wire format."""

    name: str

    async def frame(
        self, feed: Feed, view: View, after: int, records: Sequence[Record], most: int
    ) -> Frame:
        """Return one frame that begins at `after` and covers at least the first record.

        `after` is what the follower was last told; the records come later than it, and nothing
        between them and it passes the filter. `most` is how many events the frame may hold.
        """

    def empty(self, view: View, after: int, upto: int) -> str:
        """Return the frame that says: nothing for you in (after, upto]."""


FACES: dict[str, Face] = {}


def register(face: Face) -> None:
    """Make a face known by its name."""
    FACES[face.name] = face
