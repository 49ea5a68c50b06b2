"""search: the tool. It asks providers, numbers what they found, and answers with passages."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.conf import settings
from pydantic_ai import RunContext, ToolReturn

from research.actions import tools
from research.actions.change import Change, Said
from research.actions.tools import Found, Use
from research.models import Archive, Run, Source
from research.text.markers import Marker
from research.tools.fence import fenced
from research.tools.use import Finish
from streaming import vocabulary as v

from .asking import Asked, ask, left_out
from .base import Passage, SearchResult, SearchScope
from .merging import merged
from .names import LABELS

SHOWN = 12  # passages that a model reads; the rest is in the metadata
PASSAGE_LENGTH = 1200
CONTEXT_LENGTH = 500
NO_ANSWER = "no_answer"
"""The code of the word that providers do not answer."""
NOTICE = {
    "en": "{} did not answer; the search goes on with the others.",
    "zh": "{}没有回应，搜索由其余来源继续。",
}


async def search(ctx: RunContext[Any], query: str) -> ToolReturn:
    """Find passages about something, in the user's documents and on the web.

    Args:
        query: What to look for, in the words that a text about it would use.
    """
    uses = ctx.deps
    run = uses.context.run
    collections = run.options.get("collections")
    scope = SearchScope(run.user_id, tuple(collections) if collections is not None else None)
    names = run.options.get("sources") or settings.SEARCH_PROVIDERS

    async def body(use: Use) -> Finish:
        asked = await ask(names, query, scope)
        down = left_out.untold(run.id, asked.down)

        def finish(row: Run, duration_ms: int) -> Change:
            return _finish(row, use, query, asked, down, duration_ms)

        return finish

    answer: ToolReturn = await uses.run("search", {"query": query}, body)
    return answer


def _finish(
    run: Run, use: Use, query: str, asked: Asked, down: Sequence[str], duration_ms: int
) -> Change:
    result = merged(query, asked.results)
    numbers, said = tools.record_sources(run, use, list(_sources(asked.results)))
    told: list[Said] = [(use.voice, _status(run, down))] if down else []
    lines = [result.notice, _notice(run, asked.down) if asked.down else ""]
    placed = _placed(run, result, numbers)
    text = _as_text(placed, numbers, [line for line in lines if line])
    change = tools.finish(
        run,
        use,
        text,
        duration_ms,
        backend=", ".join(one.provider for one in asked.results),
        source_ids=list(dict.fromkeys(numbers.values())),
        before=[*told, *said],
    )
    change.value = ToolReturn(return_value=text, metadata=_as_data(placed, numbers))
    return change


def _status(run: Run, names: Sequence[str]) -> v.Status:
    return v.Status(message=_notice(run, names), code=NO_ANSWER, about=list(names))


def _notice(run: Run, names: Sequence[str]) -> str:
    """Return in words who does not answer."""
    comma = "、" if run.language == "zh" else ", "
    notice = NOTICE.get(run.language, NOTICE["en"])
    return notice.format(comma.join(LABELS[name] for name in names))


def _sources(results: Sequence[SearchResult]) -> Iterator[Found]:
    """Yield what is to be numbered, each once; of a page of the web, what was shown is kept."""
    seen: set[str] = set()
    for result in results:
        for passage in result.passages:
            if passage.uri in seen:
                continue
            seen.add(passage.uri)
            archive = passage.archive_hash
            if text := result.texts.get(passage.uri) or (passage.text if from_web(passage) else ""):
                archive = _archived(text).hash
            yield Found(
                uri=passage.uri,
                title=passage.title,
                provider=result.provider,
                context=passage.text[:CONTEXT_LENGTH],
                archive_hash=archive or None,
                document_id=passage.document_id,
            )


def _placed(run: Run, result: SearchResult, numbers: dict[str, int]) -> SearchResult:
    """Return the result with the passages of the web where the archived texts have them.

    Of a page that is known from another search, the text says both what that one and what this one
    shows; of a page that was fetched it is the page's, and nothing is put into it.
    """
    shown: dict[int, list[str]] = defaultdict(list)
    for passage in result.passages:
        if from_web(passage) and passage.text:
            shown[numbers[passage.uri]].append(_whole(result, passage))
    if not shown:
        return result
    rows = Source.objects.filter(run=run, source_id__in=shown).select_related("archive")
    texts = {row.uri: _kept(row, dict.fromkeys(shown[row.source_id])) for row in rows}
    return replace(
        result,
        passages=tuple(
            _at(passage, texts.get(passage.uri, "").find(_whole(result, passage)))
            if from_web(passage)
            else passage
            for passage in result.passages
        ),
    )


def from_web(passage: Passage) -> bool:
    """Tell whether a passage is of a page of the web, not of the library."""
    return passage.document_id is None


def _whole(result: SearchResult, passage: Passage) -> str:
    """Return the text that a passage of the web is `[start:end]` of."""
    whole = result.texts.get(passage.uri, "")
    return whole if whole and passage.kind != "snippet" else passage.text


def _kept(row: Source, shown: Iterable[str]) -> str:
    """Return the archived text of a source, with what is shown of it now."""
    text = row.archive.text if row.archive else ""
    more = [part for part in shown if part not in text]
    if not more or row.fetched_at is not None:
        return text
    row.archive = _archived("\n\n".join([text, *more] if text else more))
    row.save(update_fields=["archive"])
    return row.archive.text


def _archived(text: str) -> Archive:
    hashed = hashlib.sha256(text.encode()).hexdigest()
    return Archive.objects.get_or_create(hash=hashed, defaults={"text": text})[0]


def _at(passage: Passage, at: int) -> Passage:
    """Return a passage of a text that begins there; nowhere, it is a glimpse without a span."""
    if at < 0:
        return replace(passage, kind="snippet", start=0, end=0)
    return replace(passage, start=at + passage.start, end=at + passage.end)


def _as_text(result: SearchResult, numbers: dict[str, int], lines: Sequence[str]) -> str:
    """Return the best passages, each headed by its marker, for any model to read."""
    shown = result.passages[:SHOWN]
    if not shown:
        return "\n\n".join(lines) or "Nothing was found."
    text = "\n\n".join(_passage_text(passage, numbers) for passage in shown)
    return "\n\n".join([*lines, fenced(text) if any(map(from_web, shown)) else text])


def _passage_text(passage: Passage, numbers: dict[str, int]) -> str:
    number = numbers[passage.uri]
    end = min(passage.end, passage.start + PASSAGE_LENGTH)
    marker = Marker(number, passage.start, end) if end > passage.start else Marker(number)
    place = " > ".join(dict.fromkeys((passage.title, *passage.headings)))
    if passage.kind == "snippet":
        place = f"{place} (a snippet; fetch {passage.uri} to read the page)"
    return f"{marker} {place}\n{passage.text[:PASSAGE_LENGTH]}"


def _as_data(result: SearchResult, numbers: dict[str, int]) -> dict[str, Any]:
    """Return the whole result as data, for a model that can read it."""
    passages = [
        {
            "source": numbers[passage.uri],
            "uri": passage.uri,
            "title": passage.title,
            "headings": list(passage.headings),
            "kind": passage.kind,
            "start": passage.start,
            "end": passage.end,
            "score": passage.score,
            "text": passage.text,
        }
        for passage in result.passages
    ]
    outline = [
        {**asdict(item), "source": passages[item.passage]["source"]} for item in result.outline
    ]
    return {
        "provider": result.provider,
        "query": result.query,
        "documents": result.documents,
        "frequencies": dict(result.frequencies),
        "outline": outline,
        "passages": passages,
    }
