"""Actions of the writer and the verifier: sections, their citations, and the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from research.models import Citation, Run, Work
from streaming import vocabulary as v
from streaming.text import clean

from .change import Action, Change, Said, voice_of
from .linker import Linker
from .works import end

Kind = Literal["lead", "task"]
Verdict = Literal["supported", "partly", "not_found"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What the verifier found out about a citation."""

    number: int
    verdict: Verdict
    reason: str
    quote: str
    start: int | None
    end: int | None


def finish_section(work_name: str, kind: Kind, title: str, text: str) -> Action:
    """Write a section down, its markers turned into numbered citations of stored sources."""

    def action(run: Run) -> Change:
        work = Work.objects.get(run=run, name=work_name)
        number = int(work.name.partition(":")[2])
        linker = Linker(run, number)
        marked = clean(text).strip()
        body = linker.link(marked)
        run.save(update_fields=["last_citation"])
        Citation.objects.bulk_create(linker.citations)
        work.output = {
            "section": number,
            "kind": kind,
            "title": title,
            "task_id": work.input.get("task_id"),
            "text": body,
            "marked": marked,
        }
        said: list[Said] = []
        if body:
            refs = [
                v.CitationRef(
                    number=row.number, source_id=row.source.source_id, start=row.start, end=row.end
                )
                for row in linker.citations
            ]
            section = v.ReportSection(
                section=number,
                kind=kind,
                title=title,
                task_id=work.input.get("task_id"),
                text=body,
                citations=refs,
                stripped=linker.stripped[:50],
            )
            said.append((voice_of(work), section))
        return Change(said + end(run, work, "completed"), moves=True)

    return action


def finish_verification(work_name: str, checked: Sequence[Checked]) -> Action:
    """Write the verdicts down, and end the verification."""

    def action(run: Run) -> Change:
        work = Work.objects.get(run=run, name=work_name)
        verdicts = {item.number: item for item in checked}
        rows = list(Citation.objects.filter(run=run, number__in=verdicts).select_related("source"))
        said: list[Said] = []
        for row in rows:
            item = verdicts[row.number]
            row.verdict = item.verdict
            row.quote, row.start, row.end = item.quote, item.start, item.end
            said.append(
                (
                    voice_of(work),
                    v.CitationChecked(
                        number=row.number,
                        section=row.section,
                        source_id=row.source.source_id,
                        verdict=item.verdict,
                        reason=item.reason,
                        quote=item.quote[:2000],
                        start=item.start,
                        end=item.end,
                        brought_by=row.member,
                    ),
                )
            )
        Citation.objects.bulk_update(rows, ["verdict", "quote", "start", "end"])
        return Change(said + end(run, work, "completed"), moves=True)

    return action
