"""The researcher: search, choose sentences, write them down, sum up; two rounds at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
)

from research.llm.keyless.browsing import worth_fetching
from research.llm.keyless.candidates import is_debris
from research.llm.keyless.choose import choose
from research.llm.keyless.evidence import (
    Evidence,
    Listed,
    query_words,
    read_evidence,
    search_returns,
)
from research.llm.keyless.facets import ORDER, Facet, facet_of_intent
from research.llm.keyless.lists import Lists
from research.llm.keyless.prompts import Prompt, read_prompt
from research.llm.keyless.query import Query, make_query
from research.llm.keyless.questions import kind_of, parts
from research.llm.keyless.quoting import EXTENDED, EXTENDED_ZH, Quote, overlaps, quote, without
from research.llm.keyless.rank import Ranker, Scored
from research.text.markers import strip_markers
from research.text.tokens import content

_ROUNDS = 2
_MAX_QUERIES = 3
_LINES = 14
_SHOWN = 3
_WEAK = 0.35
_FACET_OWN = 0.6
_FLOOR = 0.45
_ANSWERS = 0.8
"""Where a passage of the documents says so much of what is asked, they answer alone."""
_FOCUS = 0.7
"""What a document must say of it, next to the best source, to be quoted beside pages of the web."""
_COMPARED = 1.5
_NOTHING = {
    "en": "No passage that was found answers this.",
    "zh": "没有找到能回答这一点的内容。",
}
STEERED = "steered"
_OUTLINE = {"en": "In outline", "zh": "概览"}


def _calls(messages: Sequence[ModelMessage], tool: str) -> list[dict[str, Any]]:
    return [
        part.args_as_dict()
        for message in messages
        if isinstance(message, ModelResponse)
        for part in message.parts
        if isinstance(part, ToolCallPart) and part.tool_name == tool
    ]


def _answers_search(messages: Sequence[ModelMessage]) -> bool:
    """Tell whether the last thing that was done is a search."""
    last = next((item for item in reversed(messages) if isinstance(item, ModelResponse)), None)
    parts_of_last = last.parts if last else ()
    return any(
        isinstance(part, ToolCallPart) and part.tool_name == "search" for part in parts_of_last
    )


def _facet(prompt: Prompt) -> Facet:
    known = facet_of_intent(prompt.text("intent"))
    return known or ORDER[kind_of(prompt.text("task") or prompt.question, prompt.language)][0]


def _queries(prompt: Prompt) -> list[str]:
    """Return the queries of the first round: the task's, and one for each thing it names."""
    query = prompt.text("query") or prompt.text("task") or prompt.question
    found = [query]
    for part in parts(prompt.text("task") or query):
        if len(part.entities) > 1:
            found += part.entities
    return list(dict.fromkeys(item.strip() for item in found if query_words(item)))[:_MAX_QUERIES]


def _retry_queries(prompt: Prompt, asked: Sequence[str], evidence: Evidence) -> list[str]:
    """Return other words to search with when the first found nothing."""
    query = prompt.text("query")
    words = [
        word for word in query.split() if query_words(word)
    ]  # as written: the web has no stems
    wider = [
        prompt.question,
        " ".join(sorted(words if words[1:] else query_words(query), key=len)[-2:]),
    ]
    return [item for item in wider if item and item not in asked and query_words(item)][:2]


def _search(queries: Sequence[str]) -> list[ModelResponsePart]:
    return [ToolCallPart("search", {"query": query}) for query in queries]


def _query(prompt: Prompt, evidence: Evidence, facet: Facet) -> Query:
    title, query = prompt.text("task"), prompt.text("query")
    asked = title if _says(title, query) or not facet_of_intent(prompt.text("intent")) else query
    found = parts(asked or query or prompt.question)
    topic = " ".join(part.topic for part in found)
    sides = found[0].entities if found[0].kind == "compare" else ()
    own = topic if query_words(topic) else asked or query
    return make_query(evidence, own, query, facet, prompt.language, sides)


def _says(title: str, query: str) -> bool:
    """Tell whether a task's title is the question itself, not the name of a facet."""
    return title.strip(" ?？").lower() in query.lower()


def find_quotes(ranked: Sequence[Scored], query: Query, count: int, lists: Lists) -> list[Quote]:
    """Return up to `count` quotes that answer the query, best first, each able to stand alone."""
    room = EXTENDED_ZH if query.language == "zh" else EXTENDED
    if query.facet == "compare":
        room = int(room * _COMPARED)
    good = [item for item in ranked if item.match >= _WEAK] or list(ranked[:3])
    found: list[Quote] = []
    floor = ranked[0].score * _FLOOR if ranked else 0.0
    for item in choose(good, query, count * 2):
        if item.score < floor and found:
            continue
        made = quote(item, lists, room)
        if made is None or any(overlaps(made, other) for other in found):
            continue
        found.append(without(made, found))
        if len(found) == count:
            break
    return found


def _enough(ranked: Sequence[Scored], facet: Facet, main: bool) -> bool:
    """Tell whether a facet has evidence: two sentences on the subject that sound like it."""
    fitting = [item for item in ranked if item.cued and item.own >= _FACET_OWN]
    return len(fitting) >= 2 or (main and bool(ranked))


def _asked_words(prompt: Prompt) -> list[str]:
    return query_words(prompt.text("query") or prompt.question)


def _to_fetch(prompt: Prompt, evidence: Evidence, tried: Sequence[str]) -> list[str]:
    """Return the pages to read: some, once."""
    if tried or not evidence.pages:
        return []
    wanted = content(f"{prompt.text('query')} {prompt.text('task')}")
    return worth_fetching(evidence.pages, wanted, tried)


def _note(title: str, lines: Sequence[str], kind: str, tags: Sequence[str]) -> ToolCallPart:
    return ToolCallPart(
        "note",
        {
            "action": "create",
            "title": title[:300],
            "content": "\n".join(lines),
            "note_type": kind,
            "tags": list(tags),
        },
    )


def _outline_note(prompt: Prompt, outline: Sequence[Listed]) -> ToolCallPart | None:
    lines = [
        f"- {item.text} [S{item.source}:{item.start}-{item.end}]"
        for item in outline
        if not is_debris(item.text)
    ]
    if len(lines) < 3:
        return None
    title = f"{_OUTLINE[prompt.language]}: {prompt.text('task')}"
    return _note(title, lines, "outline", ["outline"])


def _notes(prompt: Prompt, evidence: Evidence) -> list[ModelResponsePart]:
    """Return the note calls for what was found; none if nothing was."""
    facet = _facet(prompt)
    ranker = Ranker(evidence)
    query = _query(prompt, evidence, facet)
    main = _says(prompt.text("task"), prompt.text("query")) or not prompt.text("intent")
    ranked = ranker.rank(query)
    if not _enough(ranked, facet, main):
        return []
    if not main:
        ranked = [item for item in ranked if item.own >= _FACET_OWN and item.cued]
    quotes = find_quotes(ranked, query, _LINES, ranker.lists)
    if not quotes:
        return []
    calls: list[ModelResponsePart] = [
        _note(prompt.text("task"), [item.line() for item in quotes], "finding", [facet])
    ]
    if facet == "list" and (outline := _outline_note(prompt, evidence.outline)):
        calls.append(outline)
    return calls


def _summary(prompt: Prompt, notes: Sequence[dict[str, Any]]) -> str:
    lines = [
        line
        for note in notes
        if note.get("note_type") != "outline"
        for line in str(note.get("content", "")).split("\n")
        if strip_markers(line)
    ]
    return "\n".join(lines[:_SHOWN]) or _NOTHING[prompt.language]


def steers(prompt: Prompt) -> list[str]:
    """Return what people asked for in words that can be searched for."""
    texts = (" ".join(item.text.split())[:500] for item in prompt.all("steer"))
    return [text for text in dict.fromkeys(texts) if query_words(text)]


def _steered_notes(
    prompt: Prompt, messages: Sequence[ModelMessage], notes: Sequence[dict[str, Any]]
) -> list[ModelResponsePart]:
    """Return the note calls for what was found of what people asked for; each is tried once."""
    told = {str(note.get("title", "")) for note in notes}
    evidence = read_evidence(search_returns(messages))
    calls: list[ModelResponsePart] = []
    for text in steers(prompt):
        if text[:300] in told or not evidence.passages:
            continue
        facet = ORDER[kind_of(text, prompt.language)][0]
        query = make_query(evidence, text, text, facet, prompt.language)
        ranker = Ranker(evidence)
        if quotes := find_quotes(ranker.rank(query), query, _SHOWN, ranker.lists):
            calls.append(_note(text, [item.line() for item in quotes], "finding", [STEERED]))
    return calls


def research(messages: Sequence[ModelMessage]) -> list[ModelResponsePart]:
    """Return what a researcher does next, from the conversation so far."""
    prompt = read_prompt(messages)
    notes = _calls(messages, "note")
    asked = [str(call.get("query", "")) for call in _calls(messages, "search")]
    unasked = [text for text in steers(prompt) if text not in asked]
    if asked and unasked:
        return _search(unasked)
    more = notes and _answers_search(messages)
    if more and (calls := _steered_notes(prompt, messages, notes)):
        return calls
    if notes:
        return [TextPart(_summary(prompt, notes))]
    if not asked:
        queries = [*_queries(prompt), *unasked]
        return _search(queries) if queries else [TextPart(_NOTHING[prompt.language])]
    tried = [str(call.get("url", "")) for call in _calls(messages, "fetch")]
    evidence = read_evidence(search_returns(messages), snippets=bool(tried))
    said, documents = _asked_words(prompt), evidence.documents()
    if documents.covered(said) >= _ANSWERS:
        evidence = documents
    elif pages := _to_fetch(prompt, evidence, tried):
        return [ToolCallPart("fetch", {"url": url}) for url in pages]
    else:
        evidence = evidence.focused(said, _FOCUS) if evidence.web else evidence
    rounds = sum(
        any(isinstance(part, ToolCallPart) and part.tool_name == "search" for part in message.parts)
        for message in messages
        if isinstance(message, ModelResponse)
    )
    calls = _notes(prompt, evidence) if evidence.passages else []
    calls += _steered_notes(prompt, messages, [])
    if calls:
        return calls
    again = _retry_queries(prompt, asked, evidence) if not evidence.passages else []
    if again and rounds < _ROUNDS:
        return _search(again)
    return [TextPart(_NOTHING[prompt.language])]
