"""fetch: the tool. It reads a page, keeps its text, and answers with passages that can be cited."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from pydantic_ai import RunContext, ToolReturn

from research.actions import sources, tools
from research.actions.change import Change, Said
from research.actions.sources import FetchedPage
from research.actions.tools import Use
from research.library.chunks import MAX_CHARS as PASSAGE_CHARS
from research.library.chunks import Passage
from research.models import Run, Source, ToolCall
from research.text.markers import Marker
from research.web import page as web
from research.web.errors import WebError
from research.web.page import WebPage
from research.web.target import target_of

from .fence import fenced
from .use import Failed, Finish, Retry

ANSWER_CHARS = 50_000
_FRAME_CHARS = 1_000
_PARAGRAPH = re.compile(r"[^\n]{1,2000}")


@dataclass(frozen=True, slots=True)
class _Known:
    """What the run knows already: the page, if it was fetched, and how much was fetched."""

    number: int | None
    pages: int


async def fetch(ctx: RunContext[Any], url: str, start: int = 0) -> ToolReturn:
    """Read a page of the web, or a PDF there.

    Args:
        url: Where it is: http:// or https://.
        start: Where in its text to begin, to go on in a long page; 0 is the top.
    """
    uses = ctx.deps
    context = uses.context

    async def body(use: Use) -> Finish:
        try:
            asked = target_of(url).url
        except WebError as error:
            kind = Retry if error.code == "bad_url" else Failed
            raise kind(error.code, error.message) from None
        known = await context.readers.run(_known, context.run.id, url, asked)
        if known.number is not None:
            number = known.number
            return lambda run, ms: _again(run, use, number, max(0, start), ms)
        if known.pages > settings.FETCH_PAGES:
            raise Failed("fetch_limit", "This research has fetched as many pages as it may.")
        try:
            page = await web.read(asked)
        except WebError as error:
            kind = Retry if error.code == "bad_url" else Failed
            raise kind(error.code, error.message) from None
        return lambda run, ms: _first(run, use, asked, page, max(0, start), ms)

    answer: ToolReturn = await uses.run("fetch", {"url": url, "start": start}, body)
    return answer


def _known(run_id: UUID, url: str, asked: str) -> _Known:
    row = sources.known_source(run_id, url, asked)
    number = row.source_id if row is not None and row.fetched_at is not None else None
    return _Known(number, ToolCall.objects.filter(run_id=run_id, tool="fetch").count())


def _first(run: Run, use: Use, asked: str, page: WebPage, start: int, duration_ms: int) -> Change:
    """Archive a page, and answer with its passages."""
    text = page.text
    fetched = FetchedPage(
        asked=asked,
        url=page.url,
        title=text.title,
        text=text.text,
        media_type=page.media_type,
        published=text.published,
        site=text.site,
        at=page.at,
    )
    archived = sources.archive_page(run, use, fetched)
    row = archived.source
    if not archived.ours:
        return _finish(run, use, row, archived.said, _plain(row, start), start, duration_ms)
    passages = [
        Passage(passage.kind, passage.headings, passage.start + shift, passage.end + shift)
        for shift in (archived.start,)
        for passage in text.passages
        if passage.end + shift > start
    ]
    return _finish(run, use, row, archived.said, passages, start, duration_ms)


def _again(run: Run, use: Use, number: int, start: int, duration_ms: int) -> Change:
    """Answer from what is archived."""
    row = Source.objects.select_related("archive").get(run=run, source_id=number)
    said = sources.tell_again(run, use, row)
    return _finish(run, use, row, said, _plain(row, start), start, duration_ms)


def _plain(row: Source, start: int) -> Iterator[Passage]:
    """Yield the archived text from `start` on, some paragraphs at a time."""
    text = row.archive.text if row.archive else ""
    first = last = None
    for match in _PARAGRAPH.finditer(text, min(start, len(text))):
        if first is not None and last is not None and match.end() - first > PASSAGE_CHARS:
            yield Passage("prose", (), first, last)
            first = None
        first = match.start() if first is None else first
        last = match.end()
    if first is not None and last is not None:
        yield Passage("prose", (), first, last)


def _finish(
    run: Run,
    use: Use,
    row: Source,
    said: Sequence[Said],
    passages: Iterable[Passage],
    start: int,
    duration_ms: int,
) -> Change:
    full = row.archive.text if row.archive else ""
    shown, parts, room = [], [], ANSWER_CHARS - _FRAME_CHARS
    for passage in passages:
        place = " > ".join(dict.fromkeys((row.title, *passage.headings)))
        marker = Marker(row.source_id, passage.start, passage.end)
        part = f"{marker} {place}\n{full[passage.start : passage.end]}"
        room -= len(part) + 2
        if room < 0:
            break
        shown.append(passage)
        parts.append(part)
    text = _framed(row, parts, shown, start, len(full))
    change = tools.finish(
        run,
        use,
        text,
        duration_ms,
        backend=sources.PROVIDER,
        source_ids=[row.source_id],
        before=said,
    )
    change.value = ToolReturn(return_value=text, metadata=_as_data(row, shown, full))
    return change


def _framed(
    row: Source, parts: Sequence[str], shown: Sequence[Passage], start: int, length: int
) -> str:
    """Return the answer: what it is, the passages as data, and how to read on."""
    if not parts:
        return f"There is nothing from {start} on: the text has {length} characters."
    day = row.fetched_at.date().isoformat() if row.fetched_at else ""
    lines = [f"Source S{row.source_id}, {row.uri}, read on {day}."]
    if row.published:
        lines.append(f"It says of itself that it was published on {row.published}.")
    lines.append(fenced("\n\n".join(parts)))
    end = shown[-1].end
    if end < length:
        lines.append(
            f"This goes to character {end} of {length}: fetch it with start={end} to read on."
        )
    return "\n".join(lines)


def _as_data(row: Source, shown: Sequence[Passage], full: str) -> dict[str, Any]:
    """Return the passages as data, in the form of a search's."""
    return {
        "provider": sources.PROVIDER,
        "query": "",
        "documents": 0,
        "frequencies": {},
        "outline": [],
        "passages": [
            {
                "source": row.source_id,
                "title": row.title,
                "headings": list(passage.headings) or [row.title],
                "kind": passage.kind,
                "start": passage.start,
                "end": passage.end,
                "score": 0.0,
                "text": full[passage.start : passage.end],
            }
            for passage in shown
        ],
    }
