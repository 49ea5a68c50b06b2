"""search: the tool. It asks providers, numbers what they found, and answers with passages."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic_ai import RunContext, ToolReturn

from research.actions import tools
from research.actions.change import Change
from research.actions.tools import Found, Use
from research.models import Run
from research.text.markers import Marker
from research.tools.use import Finish

from .base import Passage, SearchResult, SearchScope
from .library import LibrarySearch

SHOWN = 12  # passages that a model reads; the rest is in the metadata
PASSAGE_LENGTH = 1200
CONTEXT_LENGTH = 500


async def search(ctx: RunContext[Any], query: str) -> ToolReturn:
    """Find passages about something.

    Args:
        query: What to look for, in the words that a text about it would use.
    """
    uses = ctx.deps
    run = uses.context.run
    collections = run.options.get("collections")
    scope = SearchScope(run.user_id, tuple(collections) if collections is not None else None)

    async def body(use: Use) -> Finish:
        result = await LibrarySearch().search(query, scope)

        def finish(row: Run, duration_ms: int) -> Change:
            return _finish(row, use, result, duration_ms)

        return finish

    answer: ToolReturn = await uses.run("search", {"query": query}, body)
    return answer


def _finish(run: Run, use: Use, result: SearchResult, duration_ms: int) -> Change:
    found: dict[str, Found] = {}
    for passage in result.passages:
        found.setdefault(
            passage.uri,
            Found(
                uri=passage.uri,
                title=passage.title,
                provider=result.provider,
                context=passage.text[:CONTEXT_LENGTH],
                archive_hash=passage.archive_hash or None,
                document_id=passage.document_id,
            ),
        )
    numbers, said = tools.record_sources(run, use, list(found.values()))
    text = _as_text(result, numbers)
    change = tools.finish(
        run,
        use,
        text,
        duration_ms,
        backend=result.provider,
        source_ids=list(numbers.values()),
        before=said,
    )
    change.value = ToolReturn(return_value=text, metadata=_as_data(result, numbers))
    return change


def _as_text(result: SearchResult, numbers: dict[str, int]) -> str:
    """Return the best passages, each headed by its marker, for any model to read."""
    if not result.passages:
        return result.notice or "Nothing was found."
    parts = [_passage_text(passage, numbers) for passage in result.passages[:SHOWN]]
    return "\n\n".join([result.notice, *parts] if result.notice else parts)


def _passage_text(passage: Passage, numbers: dict[str, int]) -> str:
    end = min(passage.end, passage.start + PASSAGE_LENGTH)
    marker = Marker(numbers[passage.uri], passage.start, end)
    place = " > ".join(dict.fromkeys((passage.title, *passage.headings)))
    return f"{marker} {place}\n{passage.text[:PASSAGE_LENGTH]}"


def _as_data(result: SearchResult, numbers: dict[str, int]) -> dict[str, Any]:
    """Return the whole result as data, for a model that can read it."""
    passages = [
        {
            "source": numbers[passage.uri],
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
