"""PDF: its text by page, with headings by the size of their letters.

The page is the innermost heading of each passage, so that what cites it tells the page. A
paragraph that goes on over the turn of a page stands whole on the page where it begins.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pypdfium2
import pypdfium2.raw as pdfium

from research.library.page import PAGE_LEVEL, Draft, Page
from research.library.pdf_lines import Line, alike, lines_of, pitch_of, without_running
from research.library.unreadable import Unreadable
from research.text.clean import clean_text, is_cjk

MAX_PAGES = 5_000
MAX_CHARS = 20_000_000
_LARGER = 1.12
_LEVELS = 5
_MAX_HEADING = 200
_INDENT = 0.8
_PITCH = 1.25
_SHORT = 0.7
_BULLET = re.compile(r"(?:[•‣·●▪◦■–*-]|\(?\d{1,2}[.)])\s{1,4}(?=\S)")
_END = re.compile(r"""[.!?。！？:：;；]["'”’)）」』]{0,3}\Z""")
_HYPHEN = re.compile("[\x02\ufffe\u00ad]\n?")
_JUNK_TITLE = re.compile(
    r"microsoft word|untitled|\.(?:docx?|indd|tex|dvi|pdf)\Z|\A\s{0,9}\Z", re.I
)


def _open(data: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD:
            raise Unreadable("protected") from None
        raise Unreadable("broken") from None


def _pages(document: pypdfium2.PdfDocument) -> Iterator[list[Line]]:
    total = 0
    for number in range(len(document)):
        try:
            page = document[number]
        except pypdfium2.PdfiumError:  # a damaged page among others
            yield []
            continue
        text = page.get_textpage()
        lines = list(lines_of(text))
        text.close()
        page.close()
        total += sum(len(line.text) for line in lines)
        if total > MAX_CHARS:
            raise Unreadable("unpacks_too_large")
        yield lines


def _levels(pages: Sequence[Sequence[Line]]) -> dict[float, int]:
    """Return the level of each size that is larger than that of the running text."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[line.size] += len(line.text)
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    levels: dict[float, int] = {}
    level, above = 0, math.inf
    for size in sorted((size for size in sizes if size > body * _LARGER), reverse=True):
        if not alike(size, above):
            level, above = min(level + 1, _LEVELS), size
        levels[size] = level
    return levels


@dataclass(slots=True)
class _Walk:
    """Joins lines to headings and paragraphs."""

    draft: Draft
    levels: dict[float, int]
    page: str = ""
    begun: str = ""
    shown: str = ""
    lines: list[Line] = field(default_factory=list)
    item: bool = False

    def turn(self, number: int, first: Line | None) -> None:
        """Go to the next page; what does not go on there is finished first."""
        self.page = f"Page {number}"
        if self.lines and not (first and self._continues(first)):
            self.flush()

    def _continues(self, first: Line) -> bool:
        last = self.lines[-1]
        return (
            not self.levels.get(last.size)
            and alike(last.size, first.size)
            and not _END.search(last.text)
            and not _BULLET.match(first.text)
            and (first.text[0].islower() or is_cjk(first.text[0]))
        )

    def add(self, line: Line, right: float, pitch: float) -> None:
        """Take a line, which opens a paragraph or goes on with the one that is open."""
        if self.lines and self._opens(line, right, pitch):
            self.flush()
        self.append(line)

    def append(self, line: Line) -> None:
        """Take a line that goes on with what is open, if anything is."""
        if not self.lines:
            self.begun = self.page
            self.item = _BULLET.match(line.text) is not None
        self.lines.append(line)

    def _opens(self, line: Line, right: float, pitch: float) -> bool:
        last = self.lines[-1]
        if not alike(line.size, last.size):
            return True
        if _BULLET.match(line.text):
            return True
        down = last.bottom - line.bottom
        if down <= 0:  # the next column
            return bool(_END.search(last.text)) and last.right + line.word < right
        if down > _PITCH * pitch:
            return True
        if self.levels.get(line.size):
            return False
        if not self.item and line.left > last.left + _INDENT * line.size:
            return True
        # The first word would have stood on the line above, had the paragraph gone on.
        space = 0.0 if is_cjk(line.text[0]) else 0.3 * line.size
        if last.right + space + line.word >= right - 0.5:
            return False
        return bool(_END.search(last.text)) or last.right < line.left + _SHORT * (right - line.left)

    def flush(self) -> None:
        """Give what was joined to the draft."""
        if not self.lines:
            return
        level = self.levels.get(self.lines[0].size, 0)
        joined = _HYPHEN.sub("", "\n".join(line.text for line in self.lines))
        self.lines.clear()
        if self.begun != self.shown:
            self.draft.heading(PAGE_LEVEL, self.begun)
            self.shown = self.begun
        if level and len(joined) <= _MAX_HEADING and any(map(str.isalnum, joined)):
            self.draft.heading(level, joined)
            self.draft.heading(PAGE_LEVEL, self.begun, shown=False)
        elif self.item:
            self.draft.block("item", _BULLET.sub("", joined, count=1))
        else:
            self.draft.block("prose", joined)


def _edges(lines: Sequence[Line]) -> list[float]:
    """Return for each line how far to the right its column goes."""
    edges: list[float] = []
    start = 0
    for at in range(1, len(lines) + 1):
        if at == len(lines) or lines[at].bottom > lines[at - 1].bottom + lines[at].size:
            edges += [max(line.right for line in lines[start:at])] * (at - start)
            start = at
    return edges


def _title(document: pypdfium2.PdfDocument) -> str:
    said = clean_text(str(document.get_metadata_dict().get("Title", "")))
    return "" if _JUNK_TITLE.search(said) else said.strip()[:200]


def read_pdf(data: bytes, name: str) -> Page:
    """Return a PDF as a page.

    Raises Unreadable for one that is damaged, protected, too long, or of pictures alone.
    """
    document = _open(data)
    try:
        if len(document) > MAX_PAGES:
            raise Unreadable("too_long", str(MAX_PAGES))
        pages = without_running(list(_pages(document)))
        draft = Draft()
        walk = _Walk(draft, _levels(pages))
        for number, lines in enumerate(pages, 1):
            walk.turn(number, lines[0] if lines else None)
            pitch = pitch_of(lines) or math.inf
            edges = _edges(lines)
            for at, line in enumerate(lines):
                if at:
                    walk.add(line, edges[at], pitch)
                else:
                    walk.append(line)
        walk.flush()
        if not draft.title:
            draft.title = _title(document)
    finally:
        document.close()
    page = draft.page(name)
    if not page.blocks:
        raise Unreadable("scanned")
    return page
