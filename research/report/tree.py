"""Markdown as a tree, for formats that are no HTML: bounded in length, depth and width."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import mistune
from mistune.core import BlockState

from research.rendering import places

LONGEST = 200_000
"""Characters of Markdown that are read as such; what comes after is plain text."""
DEEPEST = 8
"""Levels of lists and quotes that are set in; what is deeper stands at the last one."""

Token = dict[str, Any]


@cache
def _markdown() -> mistune.Markdown:
    plugins: list[Any] = ["table", "strikethrough", "url", places]
    return mistune.create_markdown(renderer=None, plugins=plugins)


def parse(text: str) -> list[Token]:
    """Return the blocks of a Markdown text."""
    cut = len(text)
    if cut > LONGEST:
        cut = text.rfind("\n\n", LONGEST // 2, LONGEST)
        cut = LONGEST if cut < 0 else cut
    try:
        blocks: list[Any] = list(_markdown().parse(text[:cut], BlockState())[0])
    except RecursionError:
        blocks, cut = [], 0
    return [*blocks, *_plain(text[cut:])]


def _plain(text: str) -> Iterator[Token]:
    for part in text.split("\n\n"):
        if part.strip():
            yield {"type": "paragraph", "children": [{"type": "text", "raw": part.strip()}]}


def rows_of(table: Token) -> list[list[Token]]:
    """Return a table's cells, row by row; the first row is its head."""
    rows = []
    for part in table["children"]:
        if part["type"] == "table_head":
            rows.append(part["children"])
        else:
            rows += [row["children"] for row in part["children"]]
    return rows


def text_of(token: Token) -> str:
    """Return the plain text of a token and of all below it."""
    if token["type"] in ("softbreak", "linebreak"):
        return " "
    if token["type"] == "cite":
        return f"[{token['raw']}]"
    if token["type"] == "marker":
        return f"[S{token['raw']}]"
    if "raw" in token:
        return str(token["raw"])
    return "".join(text_of(child) for child in token.get("children", ()))


def joint(before: str, after: str) -> str:
    """Return what a line break in the source is: a blank, but none between Chinese characters."""
    return "" if before and after and _is_wide(before[-1]) and _is_wide(after[0]) else " "


def _is_wide(sign: str) -> bool:
    return "\u2e80" <= sign <= "\u9fff" or "\uf900" <= sign <= "\uffef"
