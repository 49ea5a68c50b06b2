"""reStructuredText, read by line: what it says is kept, code and navigation are not.

This is a reader of documentation, not a validator: whatever it does not know is a paragraph.
"""

from __future__ import annotations

import re
from itertools import pairwise
from textwrap import dedent

from research.library.directives import ADMONITIONS, DROPPED, OPAQUE, SINCE
from research.library.inline import plain
from research.library.page import TERM_LEVEL, Draft, Page
from research.library.rst_table import grid_table, is_grid, is_simple, list_table, simple_table

_RULE = re.compile(r"([=\-~^\"'`#*+.:_<>])\1{2,}[ \t]*\Z")
_DIRECTIVE = re.compile(
    r"\.\.[ \t]{1,4}(?:\|[^|\n]{1,60}\|[ \t]{1,4})?([\w:+.-]{1,60})::(?:[ \t]|\Z)"
)
_EXPLICIT = re.compile(r"\.\.(?:[ \t]|\Z)|__[ \t]")
_BULLET = re.compile(r"(?:[-*+•]|(?:\d{1,3}|#|[a-zA-Z])[.)]|\((?:\d{1,3}|[a-z])\))[ \t]{1,8}(?=\S)")
_FIELD = re.compile(r":[\w][\w .()-]{0,60}:(?:[ \t]|\Z)")
_SIGNATURE = re.compile(r"[\w.~:-]+")
_MAX_DEPTH = 12


def looks_like_rst(text: str) -> bool:
    """Tell whether a text file is written in reStructuredText."""
    head = text[:20_000]
    if re.search(r"^\.\. [\w:_`-]+", head, re.M) or re.search(r":[a-z:]{2,20}:`[^`\n]+`", head):
        return True
    lines = head.split("\n", 200)
    rules = sum(
        1
        for above, line in pairwise(lines)
        if above.strip() and line[:1] in "=-~" and _RULE.match(line) and len(line) >= len(above) - 1
    )
    return rules >= 2


def _body(lines: list[str], at: int) -> int:
    """Return where the indented lines that start at `at` end."""
    end = at
    for index in range(at, len(lines)):
        if lines[index].strip():
            if lines[index][0] != " ":
                break
            end = index + 1
    return end


def _dedent(lines: list[str]) -> list[str]:
    return dedent("\n".join(lines)).split("\n") if lines else []


class _Reader:
    def __init__(self) -> None:
        self.draft = Draft()
        self._levels: list[tuple[str, bool]] = []

    def _level(self, char: str, over: bool) -> int:
        if (char, over) not in self._levels:
            self._levels.append((char, over))
        return self._levels.index((char, over)) + 1

    def read(self, lines: list[str], depth: int = 0, item: bool = False, term: str = "") -> None:
        """Read lines that share one indent. `item` marks its first paragraph, `term` leads it."""
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line.strip():
                at += 1
            elif depth == 0 and (size := self._heading(lines, at)):
                at += size
            elif _EXPLICIT.match(line):
                end = _body(lines, at + 1)
                self._explicit(line, lines[at + 1 : end], depth)
                at = end
            elif line[0] == " ":
                end = _body(lines, at)
                self._nested(_dedent(lines[at:end]), depth)
                at = end
            elif is_grid(line) or is_simple(line):
                at = self._table(lines, at)
            elif line.startswith(">>> "):
                at = self._skip_paragraph(lines, at)
            elif bullet := _BULLET.match(line):
                end = _body(lines, at + 1)
                rest = [" " * bullet.end() + line[bullet.end() :], *lines[at + 1 : end]]
                self._nested(_dedent(rest), depth, item=True)
                at = end
            elif match := _FIELD.match(line):
                end = _body(lines, at + 1)
                if depth and line[match.end() :].strip() and " " in match[0].strip():
                    self.draft.block(
                        "item", plain(" ".join([match[0].strip(": "), line[match.end() :]]))
                    )
                at = end
            else:
                at = self._paragraph(lines, at, depth, item, term)
                item, term = False, ""

    def _nested(self, lines: list[str], depth: int, item: bool = False, term: str = "") -> None:
        if depth < _MAX_DEPTH:
            self.read(lines, depth + 1, item, term)

    def _heading(self, lines: list[str], at: int) -> int:
        """Open the section that starts here; return how many lines its title takes."""
        over = _RULE.match(lines[at])
        if over and at + 2 < len(lines):
            under = _RULE.match(lines[at + 2])
            title = lines[at + 1].strip()
            if under and under[1] == over[1] and title and not _RULE.match(title):
                self.draft.heading(self._level(over[1], True), plain(title))
                return 3
        if over:
            return 1 if len(lines[at].strip()) > 3 and not is_simple(lines[at]) else 0
        if at + 1 < len(lines) and (under := _RULE.match(lines[at + 1])):
            title = lines[at].rstrip()
            if title[0] != " " and len(lines[at + 1].rstrip()) >= min(len(title) - 1, 60):
                self.draft.heading(self._level(under[1], False), plain(title))
                return 2
        return 0

    def _explicit(self, line: str, body: list[str], depth: int) -> None:
        match = _DIRECTIVE.match(line)
        if match is None:
            return
        name, argument = match[1], line[match.end() :].strip()
        inner = _dedent(body)
        if name in DROPPED:
            return
        while inner and _FIELD.match(inner[0]):
            del inner[: max(1, _body(inner, 1))]
        short = name.rsplit(":", 1)[-1]
        if short in SINCE:
            inner = _dedent(body)
            self._nested(inner, depth, term=f"{SINCE[short]} {plain(argument)}")
        elif short in ADMONITIONS:
            self._nested([argument, *inner] if argument else inner, depth)
        elif short in ("list-table", "csv-table"):
            header, rows = list_table(_dedent(body), comma=short == "csv-table")
            self.draft.rows([plain(cell) for cell in header], [[plain(c) for c in r] for r in rows])
        elif short == "table" or short in OPAQUE:
            self._nested(inner, depth)
        elif short in ("admonition", "rubric", "topic"):
            self._described(argument, inner, depth, shown=True)
        elif inner:
            # function, method, setting, option, …: what stands under it is about it, and is
            # read without it only if its name leads it.
            signature = _SIGNATURE.search(argument)
            self._described(signature[0] if signature else argument, inner, depth, shown=False)

    def _described(self, name: str, inner: list[str], depth: int, *, shown: bool) -> None:
        level = TERM_LEVEL + depth
        said = plain(name)
        self.draft.heading(level, said, shown=shown)
        self._nested(inner, depth, term="" if shown else said)
        self.draft.close(level)

    def _table(self, lines: list[str], at: int) -> int:
        end = at
        if is_grid(lines[at]):
            while end < len(lines) and lines[end][:1] in "+|":
                end += 1
            header, rows = grid_table(lines[at:end])
        else:
            rules = 0
            while end < len(lines):
                if is_simple(lines[end]):
                    rules += 1
                    blank = end + 1 >= len(lines) or not lines[end + 1].strip()
                    if rules > 1 and blank:
                        end += 1
                        break
                end += 1
            header, rows = simple_table(lines[at:end])
        self.draft.rows([plain(cell) for cell in header], [[plain(c) for c in r] for r in rows])
        return max(end, at + 1)

    def _skip_paragraph(self, lines: list[str], at: int) -> int:
        while at < len(lines) and lines[at].strip():
            at += 1
        return at

    def _paragraph(self, lines: list[str], at: int, depth: int, item: bool, term: str) -> int:
        end = at
        while end < len(lines) and lines[end].strip() and lines[end][0] != " ":
            end += 1
            if end < len(lines) and depth == 0 and self._is_title(lines, end):
                break
        indented = end < len(lines) and lines[end][:1] == " "
        text = " ".join(line.strip() for line in lines[at:end])
        if indented and end - at == 1 and not text.endswith("::"):
            stop = _body(lines, end)
            name = plain(text.split(" : ")[0])
            self.draft.heading(TERM_LEVEL + depth, name, shown=False)
            self._nested(_dedent(lines[end:stop]), depth, item=True, term=name)
            self.draft.close(TERM_LEVEL + depth)
            return stop
        if text.rstrip() == "::":
            return _body(lines, end)
        literal = text.endswith("::")
        said = plain(text[:-1] if literal else text)
        self.draft.block("item" if item else "prose", f"{term}: {said}" if term else said)
        if literal:
            while end < len(lines) and not lines[end].strip():
                end += 1
            return _body(lines, end)
        return end

    def _is_title(self, lines: list[str], at: int) -> bool:
        return (
            at + 1 < len(lines) and bool(_RULE.match(lines[at + 1])) and not _RULE.match(lines[at])
        )


def read_rst(text: str, name: str) -> Page:
    """Return a reStructuredText document as a page."""
    reader = _Reader()
    reader.read(text.expandtabs(4).split("\n"))
    return reader.draft.page(name)
