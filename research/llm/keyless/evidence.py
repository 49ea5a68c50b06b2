"""What the searches of a conversation brought, as ranking needs it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart

from research.text.headings import section_of
from research.text.tokens import content, tokens

_RAREST = 7.0
_OF_PAGE = 20  # passages of a page that are looked at


@dataclass(frozen=True, slots=True)
class Found:
    """A passage of a source, with its place in the results (`score` 1 for the best of a search)."""

    source: int
    title: str
    headings: tuple[str, ...]
    row: bool
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Listed:
    """A heading that an outline lists."""

    source: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page of the web that a search showed a snippet of, and nobody has fetched here."""

    source: int
    uri: str
    title: str
    text: str


@dataclass(slots=True)
class Evidence:
    """All passages, the pages behind snippets, the best outline, and how rare words are."""

    passages: list[Found] = field(default_factory=list)
    pages: list[WebPage] = field(default_factory=list)
    outline: list[Listed] = field(default_factory=list)
    searches: int = 0
    web: frozenset[int] = frozenset()
    """The sources that are pages of the web whose text is here."""
    _documents: int = 0
    _frequencies: dict[str, int] = field(default_factory=dict)
    _own: Counter[str] = field(default_factory=Counter)

    def idf(self, word: str) -> float:
        """Return how rare a word is where the search looked, or among the passages found."""
        total, count = self._documents, self._frequencies.get(word, -1)
        if total == 0 or count < 0:
            # Not a word of the query: what was found is a biased sample, so the passages' own
            # count is only comparable among such words.
            total, count = max(len(self.passages), 1), self._own[word]
        return math.log(1 + (total - count + 0.5) / (count + 0.5)) if count <= total else 0.1

    def covered(self, words: Iterable[str]) -> float:
        """Return the share of words, the rare ones first of all, that the best passage says."""
        return max(self._covered(words).values(), default=0.0)

    def focused(self, words: Iterable[str], share: float) -> Evidence:
        """Return it without the documents that say far less of these words than the best source.

        The pages of the web stay: they were chosen.
        """
        covered = self._covered(words)
        floor = share * max(covered.values(), default=0.0)
        stays = {source for source, held in covered.items() if held >= floor}
        return self._of(stays | self.web)

    def documents(self) -> Evidence:
        """Return it without what is of the web."""
        return self._of({passage.source for passage in self.passages} - self.web)

    def _of(self, sources: Collection[int]) -> Evidence:
        return replace(
            self,
            passages=[passage for passage in self.passages if passage.source in sources],
            outline=[item for item in self.outline if item.source in sources],
        )

    def _covered(self, words: Iterable[str]) -> Mapping[int, float]:
        weights = {word: min(self.idf(word), _RAREST) for word in words}
        total = sum(weights.values()) or 1.0
        best: dict[int, float] = defaultdict(float)
        for passage in self.passages:
            said = content(passage.text) | content(" ".join(passage.headings))
            held = sum(weight for word, weight in weights.items() if word in said)
            best[passage.source] = max(best[passage.source], held / total)
        return best

    def known(self, word: str) -> bool:
        """Tell whether any passage that was found holds a word."""
        return self._own[word] > 0


def _passage(raw: Mapping[str, Any], top: float) -> Found | None:
    try:
        start, text = int(raw["start"]), str(raw["text"])
        return Found(
            source=int(raw["source"]),
            title=str(raw.get("title") or ""),
            headings=section_of(tuple(map(str, raw.get("headings") or ()))),
            row=raw.get("kind") == "row",
            start=start,
            end=start + len(text),
            text=text,
            score=float(raw.get("score") or 0.0) / top if top > 0 else 0.0,
        )
    except (KeyError, TypeError, ValueError):
        return None


def _outline(raw: Any, passages: Sequence[Mapping[str, Any]]) -> list[Listed]:
    found = []
    for item in raw or ():
        try:
            source = item.get("source") or passages[int(item["passage"])]["source"]
            found.append(
                Listed(int(source), int(item["start"]), int(item["end"]), str(item["text"]))
            )
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            continue
    return found


def search_returns(messages: Sequence[ModelMessage]) -> list[ToolReturnPart]:
    """Return what `search` and `fetch` returned so far, failures and retries too."""
    return [
        part
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart) and part.tool_name in ("search", "fetch")
    ]


def read_evidence(returns: Sequence[ToolReturnPart], snippets: bool = False) -> Evidence:
    """Gather the passages of all searches and pages, each once, with its best score.

    With `snippets`, what is shown of pages counts as passages where none of them could be fetched.
    """
    evidence = Evidence(searches=sum(part.tool_name == "search" for part in returns))
    best: dict[tuple[int, int], Found] = {}
    read = [(part.tool_name, _data(part)) for part in returns]
    wanted = content(" ".join(str(data.get("query") or "") for _, data in read))
    fetched = {
        int(item["source"])
        for name, data in read
        if name == "fetch"
        for item in _passages(data)
        if isinstance(item.get("source"), int)
    }
    snippets = snippets and not fetched
    evidence.web = frozenset(fetched)
    for name, data in read:
        raw = _passages(data)
        pages = [item for item in raw if name == "fetch" or _is_read(item)]
        found = _of_page(pages, wanted)
        evidence.web |= {passage.source for passage in found}
        if name == "search":
            found += _of_search(raw)
            if snippets:
                shown = list(_of_snippets(raw, evidence.web))
                evidence.web |= {passage.source for passage in shown}
                found += shown
        for passage in found:
            key = (passage.source, passage.start)
            if key not in best or best[key].score < passage.score:
                best[key] = passage
        evidence.pages += _pages(raw, evidence.web, evidence.pages)
        evidence.outline = evidence.outline or _outline(data.get("outline"), raw)
        documents = data.get("documents") or 0
        if isinstance(documents, int) and documents >= evidence._documents:
            evidence._documents = documents
        for word, count in dict(data.get("frequencies") or {}).items():
            evidence._frequencies[str(word)] = max(
                int(count), evidence._frequencies.get(str(word), 0)
            )
    evidence.passages = sorted(
        best.values(), key=lambda item: (-item.score, item.source, item.start)
    )
    for passage in evidence.passages:
        evidence._own.update(content(passage.text) | content(" ".join(passage.headings)))
    return evidence


def _data(part: ToolReturnPart) -> Mapping[str, Any]:
    return part.metadata if isinstance(part.metadata, Mapping) else {}


def _passages(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [item for item in data.get("passages") or () if isinstance(item, Mapping)]


def _is_read(item: Mapping[str, Any]) -> bool:
    """Tell whether a passage is of a text of the web that the provider itself brought."""
    return item.get("kind") != "snippet" and str(item.get("uri") or "").startswith("http")


def _of_search(raw: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    """Yield the passages of documents."""
    counted = [item for item in raw if item.get("kind") != "snippet" and not _is_read(item)]
    top = max((float(item.get("score") or 0.0) for item in counted), default=0.0)
    for item in counted:
        if found := _passage(item, top):
            yield found


def _of_snippets(raw: Sequence[Mapping[str, Any]], read: Collection[Any]) -> Iterator[Found]:
    """Yield what is shown of pages, where it has to do for them."""
    shown = [item for item in raw if item.get("kind") == "snippet" and item.get("end")]
    for item in shown:
        if item.get("source") not in read and (found := _passage(item, 1.0)):
            yield found


def _of_page(raw: Sequence[Mapping[str, Any]], wanted: frozenset[str]) -> list[Found]:
    """Return the passages of a page that say most of what was searched for."""
    scored = []
    for item in raw:
        if found := _passage({**item, "score": 1.0}, 1.0):
            said = content(found.text) | content(" ".join(found.headings))
            scored.append(replace(found, score=len(said & wanted) / max(len(wanted), 1)))
    scored.sort(key=lambda found: -found.score)
    return [found for found in scored[:_OF_PAGE] if found.score]


def _pages(
    raw: Sequence[Mapping[str, Any]], read: Collection[Any], known: Sequence[WebPage]
) -> list[WebPage]:
    """Return the pages of a search that nobody has read, each once."""
    found: dict[int, WebPage] = {}
    sources = {page.source for page in known} | set(read)
    for item in raw:
        if item.get("kind") == "snippet" and item.get("uri") and item["source"] not in sources:
            page = WebPage(item["source"], str(item["uri"]), str(item["title"]), str(item["text"]))
            found.setdefault(page.source, page)
    return list(found.values())


def query_words(text: str) -> list[str]:
    """Return the words of a query, each once, in order."""
    return list(dict.fromkeys(tokens(text)))
