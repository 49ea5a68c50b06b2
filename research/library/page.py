"""A document as the library keeps it: one cleaned text, its blocks and its headings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from research.text.clean import clean_text, unwrap

BlockKind = Literal["prose", "item", "row"]

TERM_LEVEL = 20
"""Levels from here on are signatures and terms, not titles of sections."""

PAGE_LEVEL = 90
"""The level of the pages of a printed document: the innermost heading of what stands on them."""

_NUMBERING = re.compile(
    r"(?:(?:Chapter|Appendix|Part|Section|Table|Figure)\s{1,3})?(?:[A-Z]|[IVX]{1,6}|\d{1,3})"
    r"(?:\.\d{1,3}){0,5}\.\s{1,3}|\d{1,3}(?:\.\d{1,3}){1,5}\s{1,3}"
    r"|第\s?[\d一二三四五六七八九十]{1,4}\s?[章节篇部]\s{0,3}[.．、]?\s{0,3}"
    r"|[一二三四五六七八九十]{1,3}、|附录\s{0,2}[A-Z][.．]?\s{1,3}"
)
_MAX_HEADING = 200


@dataclass(frozen=True, slots=True)
class Block:
    """`text[start:end]` under its headings, from the title down."""

    kind: BlockKind
    headings: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Heading:
    """`text[start:end]` is a heading of this level, 1 at the top; terms are `TERM_LEVEL` and up."""

    level: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Page:
    """A document that was read."""

    title: str
    text: str
    blocks: tuple[Block, ...]
    outline: tuple[Heading, ...]


def bare_heading(text: str) -> str:
    """Return a heading without its number, its link mark and its line ends."""
    line = unwrap(clean_text(text)).rstrip(" ¶#").strip()
    match = _NUMBERING.match(line)
    if match and len(line) > match.end():
        line = line[match.end() :]
    return line[:_MAX_HEADING].strip()


@dataclass(slots=True)
class Draft:
    """Takes a document's parts in order and gives the `Page`."""

    title: str = ""
    _text: list[str] = field(default_factory=list)
    _length: int = 0
    _path: list[tuple[int, str]] = field(default_factory=list)
    _blocks: list[Block] = field(default_factory=list)
    _outline: list[Heading] = field(default_factory=list)
    _last: str = ""

    def _put(self, line: str, prefix: str, gap: str) -> tuple[int, int]:
        if self._length:
            self._text.append(gap)
            self._length += len(gap)
        start = self._length + len(prefix)
        self._text.append(prefix + line)
        self._length += len(prefix) + len(line)
        return start, self._length

    def heading(self, level: int, text: str, *, shown: bool = True) -> None:
        """Open a section. A term that stands in its paragraph anyway is not `shown` twice."""
        line = bare_heading(text)
        if not line:
            return
        self.close(level)
        self._path.append((level, line))
        if not self.title and level < TERM_LEVEL:
            self.title = line
        if shown:
            start, end = self._put(line, "", "\n\n")
            self._outline.append(Heading(level, start, end))
            self._last = "heading"

    def close(self, level: int) -> None:
        """Leave the sections of this level and deeper."""
        while self._path and self._path[-1][0] >= level:
            self._path.pop()

    def depth(self) -> int:
        """Return the level of the innermost open section, 0 if there is none."""
        return self._path[-1][0] if self._path else 0

    def block(self, kind: BlockKind, text: str) -> None:
        """Add a paragraph, a list item or a table row; an empty one is nothing."""
        line = unwrap(clean_text(text))
        if not line:
            return
        gap = "\n" if kind != "prose" and self._last == kind else "\n\n"
        start, end = self._put(line, "- " if kind == "item" else "", gap)
        path = tuple(name for _, name in self._path)
        self._blocks.append(Block(kind, path, start, end))
        self._last = kind

    def rows(self, header: list[str], rows: list[list[str]]) -> None:
        """Add the rows of a table, each cell after its column's name."""
        names = [unwrap(name) for name in header]
        for row in rows:
            cells = [unwrap(cell) for cell in row]
            parts = [
                f"{names[index]}: {cell}" if index < len(names) and names[index] else cell
                for index, cell in enumerate(cells)
                if cell and cell not in "-–—"
            ]
            if parts:
                self.block("row", " | ".join(parts))

    def page(self, name: str) -> Page:
        """Return the finished page; without any title it is called by its file's name."""
        title = self.title or re.sub(r"[-_]+", " ", name.rsplit("/", 1)[-1].rsplit(".", 1)[0])
        blocks = tuple(
            Block(
                block.kind,
                block.headings if block.headings[:1] == (title,) else (title, *block.headings),
                block.start,
                block.end,
            )
            for block in self._blocks
        )
        return Page(title[:300], "".join(self._text), blocks, tuple(self._outline))
