"""Make the document of a run out of its state."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from research.cards import SectionCard, SourceCard
from research.errors import in_words
from research.fold import load
from research.models import Citation
from research.report.document import Document, Gap, Reference, Section, one_line, printable
from research.state import RunState
from research.text.markers import strip_markers
from streaming import log

from .words import ENDS, VERDICTS, notice, status, stripped, words

TITLE, QUOTE, MESSAGE = 160, 1200, 500  # characters
LANGUAGES = {"zh": "zh-hans"}
"""What Django calls the language of a report."""


def document(run_id: UUID) -> Document:
    """Return the document of a run as its log has it now. Blocking."""
    state = load(run_id)
    quotes = dict(Citation.objects.filter(run=run_id).values_list("number", "quote"))
    return document_of(state, run_id, quotes)


def document_of(state: RunState, run_id: UUID, quotes: dict[int, str]) -> Document:
    """Return the document of a state; `quotes` are the passages of what nobody has checked yet."""
    run = state.run
    code = run.language.partition("-")[0]
    with translation.override(LANGUAGES.get(code, code)):
        question = printable(run.topic).strip()
        title = one_line(question, TITLE)
        references = list(_references(state, quotes))
        ended = run.ended is not None
        moment = _moment(run.ended or run.ts)
        return Document(
            run_id=str(run_id),
            language="zh-Hans" if code == "zh" else code,
            title=title,
            question=question if title != " ".join(question.split()) else "",
            facts=[
                _day(moment),
                status(run),
                ngettext("%d source", "%d sources", len(state.sources)) % len(state.sources),
                ngettext("%d reference", "%d references", len(references)) % len(references),
            ],
            date=moment.isoformat(timespec="seconds"),
            notice=printable(notice(run)),
            sections=[*_sections(state, run_id), *_begun(state)],
            gaps=list(_gaps(state)),
            references=references,
            words=words(ended),
        )


def _sections(state: RunState, run_id: UUID) -> Iterator[Section]:
    for card in state.report():
        yield Section(
            title=one_line(card.title),
            text=printable(_text(card, run_id)).strip("\n"),
            numbers=[ref["number"] for ref in card.citations],
            note=stripped(len(card.stripped)),
        )


def _text(card: SectionCard, run_id: UUID) -> str:
    return log.blob(run_id, card.blob) if card.blob else card.text


def _begun(state: RunState) -> Iterator[Section]:
    """Yield the sections that were begun and not written down: their text is not lost."""
    for card in sorted(state.messages.values(), key=lambda card: card.born):
        if card.kind != "section" or card.section in state.sections:
            continue
        if text := strip_markers(printable(state.text_of(card.message_id))):
            yield Section(title=one_line(card.title or ""), text=text, finished=False)


def _gaps(state: RunState) -> Iterator[Gap]:
    """Yield the tasks that nobody carried to an end; those still under way are none."""
    for task in state.in_plan_order():
        cut = state.run.ended is not None and task.status in ("pending", "in_progress")
        if task.task_id not in state.run.gaps and task.status not in ENDS and not cut:
            continue
        told = str(ENDS.get(task.status, _("Not finished")))
        reason = one_line(in_words(task.message, task.code), MESSAGE)
        yield Gap(one_line(task.title), f"{told}: {reason}" if reason else told)


def _references(state: RunState, quotes: dict[int, str]) -> Iterator[Reference]:
    for number, ref in sorted(state.citation_refs().items()):
        source, check = state.sources.get(ref["source_id"]), state.citations.get(number)
        told: Any = VERDICTS.get(check.verdict, "") if check else _("Not checked")
        yield Reference(
            number=number,
            title=one_line(source.title) if source else _("Source %d") % ref["source_id"],
            uri=_address(source),
            quote=one_line(check.quote if check else quotes.get(number, ""), QUOTE),
            verdict=check.verdict if check and check.verdict in VERDICTS else "",  # type: ignore[arg-type]
            told=str(told),
            dates=_dates(source) if source else "",
        )


def _address(source: SourceCard | None) -> str:
    """Return where a source is found by others; documents of the library are found by title."""
    return one_line(source.uri) if source and not source.uri.startswith("library:") else ""


def _dates(source: SourceCard) -> str:
    read = _("Read on %s") % _day(_moment(source.fetched or source.ts))
    published = one_line(source.published, 40)
    return f"{_('Published on %s') % published} · {read}" if published else read


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC) if ms else timezone.now()


def _day(moment: datetime) -> str:
    return date_format(moment, "DATE_FORMAT")
