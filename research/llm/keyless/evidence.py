"""What the searches of a conversation brought, as ranking needs it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart

from research.text.headings import section_of
from research.text.tokens import content, tokens


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


@dataclass(slots=True)
class Evidence:
    """All passages, the best outline, and how rare words are."""

    passages: list[Found] = field(default_factory=list)
    outline: list[Listed] = field(default_factory=list)
    searches: int = 0
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
    """Return what the `search` tool returned so far, failures and retries too."""
    return [
        part
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart) and part.tool_name == "search"
    ]


def read_evidence(returns: Sequence[ToolReturnPart]) -> Evidence:
    """Gather the passages of all searches, each once, with its best score."""
    evidence = Evidence(searches=len(returns))
    best: dict[tuple[int, int], Found] = {}
    for part in returns:
        data = part.metadata if isinstance(part.metadata, Mapping) else {}
        raw = [item for item in data.get("passages") or () if isinstance(item, Mapping)]
        top = max((float(item.get("score") or 0.0) for item in raw), default=0.0)
        for item in raw:
            found = _passage(item, top)
            if found and (
                (found.source, found.start) not in best
                or best[found.source, found.start].score < found.score
            ):
                best[found.source, found.start] = found
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


def query_words(text: str) -> list[str]:
    """Return the words of a query, each once, in order."""
    return list(dict.fromkeys(tokens(text)))
