"""What a search is: a provider, the scope it may see, and what it returns.

The search tool gives each passage's `uri` a source number of the run and hands models the result
twice: as compact text, and as data in the metadata of the tool's return.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

PassageKind = Literal["prose", "row", "snippet"]

LIMIT = 40


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Whose search it is, and which collections it sees: all that the user may read if None."""

    user_id: int | None
    collection_ids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a source: `text` is `[start:end]` of the source's text, in code points.

    Of a page of the web that nobody has fetched yet, the text is what the provider shows of it.
    """

    uri: str
    title: str
    headings: tuple[str, ...]
    kind: PassageKind
    start: int
    end: int
    score: float
    text: str
    document_id: int | None = None
    archive_hash: str = ""


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """A heading below the one that fits the query best, as `[start:end]` of its source's text.

    `passage` is the index, in the same result, of a passage of that source.
    """

    text: str
    start: int
    end: int
    passage: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a provider found, best first.

    `documents` and `frequencies` are the number of passages searched and of those that hold each
    token of the query (0 and empty where the provider cannot know); `texts` are what is to be kept
    of sources whose passages are parts of a longer text, by uri; `notice` is for a person.
    """

    provider: str
    query: str
    passages: tuple[Passage, ...] = ()
    documents: int = 0
    frequencies: Mapping[str, int] = field(default_factory=dict)
    outline: tuple[OutlineItem, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    notice: str = ""


class ProviderDown(Exception):
    """The provider did not answer as it should; it is left out for a while."""


class ProviderBusy(Exception):
    """The provider is asked as often as it wants to be; it is not down."""


@runtime_checkable
class SearchProvider(Protocol):
    """Finds passages; one that is down raises `ProviderDown`."""

    @property
    def name(self) -> str:
        """Return the name it is called by, such as `library`."""
        ...

    async def search(self, query: str, scope: SearchScope, limit: int = LIMIT) -> SearchResult:
        """Return up to `limit` passages for the query, best first."""
        ...
