"""Linker: turns the markers of a section into citations; takes out what leads to no source."""

from __future__ import annotations

import re
from collections.abc import Sequence

from research.models import Citation, Run, Source
from research.text.markers import PATTERN

# [text](address), ![text](address "title"), an address may hold one level of brackets
LINK = re.compile(
    r"!?\[([^\]\[]{0,300})\]\([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500}){0,3}\)"
)
URL = re.compile(r"<?\b(?:(?:https?|ftp)://|www\.)[^\s<>\])]{1,2000}>?", re.IGNORECASE)
CODE_OR_NUMBER = re.compile(r"(```[\s\S]*?```|`[^`\n]*`)|(?<!\\)\[\d{1,4}\]")
STRIPPED_LENGTH = 200
BEFORE = 8  # code points that tell a number in a source from one that was made up


class Linker:
    """Links one section; `citations` and `stripped` are what came of it."""

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
        text = CODE_OR_NUMBER.sub(lambda match: self._number(match, known), text)
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
            return self._strip(match[0])
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

    def _number(self, match: re.Match[str], known: Sequence[str]) -> str:
        """Keep `[3]` from being a citation: of a model that made it up, nothing stays."""
        if match[1]:
            return match[0]
        before = match.string[max(0, match.start() - BEFORE) : match.start()]
        is_index = bool(before) and (before[-1].isalnum() or before[-1] in "_])'\"")
        if is_index or any(before + match[0] in text for text in known):
            return "\\" + match[0]
        return self._strip(match[0])

    def _link_text(self, match: re.Match[str], known: Sequence[str]) -> str:
        if any(match[0] in text for text in known):
            return match[0]
        self._strip(match[0])
        return match[1]

    def _url(self, url: str, known: Sequence[str]) -> str:
        return url if any(url.strip("<>") in text for text in known) else self._strip(url)

    def _strip(self, what: str) -> str:
        self.stripped.append(what[:STRIPPED_LENGTH])
        return ""


def _claim(text: str) -> str:
    """Return the last line of a text, without what makes it a list item: what a marker is about."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[-1].replace("\\[", "[").strip().lstrip("-*•> \t.,;:!?。，；：！？、").strip()
