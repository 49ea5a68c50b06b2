"""Plain text: paragraphs by blank lines, titles by their shape, listings left out."""

from __future__ import annotations

import re

from research.library.page import Draft, Page

_NUMBER = re.compile(
    r"(\d{1,2}(?:\.\d{1,2}){0,4})[.、．]?\s{1,4}\S|([一二三四五六七八九十]{1,3})、\S|#{1,6}\s"
)
_BULLET = re.compile(
    r"\s{0,12}(?:[-*•‣·●▪]|\(?\d{1,3}[.)]|[（(][一二三四五六七八九十\d]{1,3}[)）])\s{0,4}(?=\S)"
)
_END = re.compile(r"""[.!?。！？;；:：,，、'"”)）]\Z""")
_CODE = re.compile(r"[{}=<>;_\[\]()|\\$#@]|->|::")
_CODE_START = re.compile(
    r"\s*(?:def |class |async |await |return |import |from \w+ import|for \w+ in |if .{1,80}:\Z|"
    r"else:|elif |"
    r"try:|except|with .{1,80}:\Z|@\w|self\.|\$ |>>> |#!|[}\])]+[,;]?\Z|//|/\*|yield |raise |"
    r"continue\Z|break\Z|pass\Z|"
    r"[{\[]\s*(?:\Z|\")|\"[\w.-]{1,60}\"\s?:|'[\w.-]{1,60}'\s?:|while .{1,80}:\Z|\"\"\"|# |→ )"
)
_MAX_TITLE = 60


def _is_code(line: str) -> bool:
    """Tell whether a line is of a listing rather than of a text."""
    said = line.strip()
    if not said:
        return False
    if _CODE_START.match(line):
        return True
    if re.search("[\u4e00-\u9fff]{6}", said):
        return False
    marks = len(_CODE.findall(said))
    return marks >= 2 and marks * 12 > len(said)


def _title_level(line: str, alone: bool) -> int:
    """Return the level of a title, 0 if the line is none."""
    said = line.strip()
    if not said or len(said) > _MAX_TITLE or _END.search(said) or line[:1].isspace():
        return 0
    match = _NUMBER.match(said)
    if match and alone:
        if match[1]:
            return 2 + match[1].count(".")
        return 2
    return 0 if not alone or _BULLET.match(said) or " | " in said or _is_code(line) else 5


def read_plain(text: str, name: str) -> Page:
    """Return a text without markup as a page."""
    draft = Draft()
    lines = text.split("\n")
    waiting: list[str] = []
    kind = "prose"

    def flush() -> None:
        nonlocal kind
        if waiting:
            draft.block("item" if kind == "item" else "prose", "\n".join(waiting))
            waiting.clear()
        kind = "prose"

    for index, line in enumerate(lines):
        before = index == 0 or not lines[index - 1].strip()
        after = index + 1 >= len(lines) or not lines[index + 1].strip()
        if not line.strip():
            flush()
        elif level := _title_level(line, before and after):
            flush()
            draft.heading(1 if not draft.title and level == 5 else level, line.strip("# "))
        elif _is_code(line):
            flush()
        elif bullet := _BULLET.match(line):
            flush()
            kind = "item"
            waiting.append(line[bullet.end() :])
        else:
            waiting.append(line)
            if len(line) > 400:  # lines that long are paragraphs, not wrapped text
                flush()
    flush()
    page = draft.page(name)
    return page if page.blocks else _only_lines(lines, name)


def _only_lines(lines: list[str], name: str) -> Page:
    """Read a text of nothing but short lines: then none of them is a title."""
    draft = Draft()
    for line in lines:
        draft.block("prose", line)
    return draft.page(name)
