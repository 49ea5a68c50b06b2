"""Actions of the writer and the verifier: sections, their citations, and the verdicts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from research.models import Citation, Run, Source, Work
from research.text.markers import PATTERN
from streaming import vocabulary as v

from .change import Action, Change, Said, voice_of
from .works import end

LINK = re.compile(r"\[([^\]\[]{0,300})\]\((?:[^()\s]{0,2000})\)")
URL = re.compile(r"<?\bhttps?://[^\s<>\])]{1,2000}>?")

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
        linker = _Linker(run, number)
        body = linker.link(text.strip())
        run.save(update_fields=["last_citation"])
        Citation.objects.bulk_create(linker.citations)
        work.output = {
            "section": number,
            "kind": kind,
            "title": title,
            "task_id": work.input.get("task_id"),
            "text": body,
            "marked": text.strip(),
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


class _Linker:
    """Turns the markers of one section into citations; takes out what leads to no source."""

    def __init__(self, run: Run, section: int) -> None:
        self.run = run
        self.section = section
        self.citations: list[Citation] = []
        self.stripped: list[str] = []
        rows = Source.objects.filter(run=run).select_related("archive")
        self._sources = {row.source_id: row for row in rows}
        self._numbers: dict[tuple[int, int | None, int | None], int] = {}

    def link(self, text: str) -> str:
        """Return the text with `[n]` for each marker that leads to a stored source."""
        cited = {int(match[1]) for match in PATTERN.finditer(text)} & self._sources.keys()
        known = [archive.text for number in cited if (archive := self._sources[number].archive)]
        text = LINK.sub(lambda match: self._link_text(match, known), text)
        text = URL.sub(lambda match: self._url(match[0], known), text)
        parts: list[str] = []
        at, claim_from = 0, 0
        for match in PATTERN.finditer(text):
            parts.append(text[at : match.start()])
            if text[at : match.start()].strip() or not at:
                claim_from = at  # markers side by side belong to one claim
            claim = _claim(PATTERN.sub("", text[claim_from : match.start()]))
            parts.append(self._citation(match, claim))
            at = match.end()
        parts.append(text[at:])
        return "".join(parts).strip()

    def _citation(self, match: re.Match[str], claim: str) -> str:
        source = self._sources.get(int(match[1]))
        if source is None:
            self.stripped.append(match[0])
            return ""
        full = source.archive.text if source.archive else ""
        start, end = (int(match[2]), int(match[3])) if match[2] else (None, None)
        if start is None or end is None or not start < end <= len(full):
            start = end = None
        key = (source.source_id, start, end)
        if key not in self._numbers:
            self.run.last_citation += 1
            self._numbers[key] = self.run.last_citation
            self.citations.append(
                Citation(
                    run=self.run,
                    number=self.run.last_citation,
                    section=self.section,
                    source=source,
                    claim=claim,
                    quote=full[start:end] if start is not None else "",
                    start=start,
                    end=end,
                    archive_hash=source.archive_id or "",
                    member=source.member,
                )
            )
        return f"[{self._numbers[key]}]"

    def _link_text(self, match: re.Match[str], known: Sequence[str]) -> str:
        if any(match[0] in text for text in known):
            return match[0]
        self.stripped.append(match[0])
        return match[1]

    def _url(self, url: str, known: Sequence[str]) -> str:
        if any(url.strip("<>") in text for text in known):
            return url
        self.stripped.append(url)
        return ""


def _claim(text: str) -> str:
    """Return the last line of a text, without what makes it a list item: what a marker is about."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip().lstrip("-*•> \t").strip() if lines else ""


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
