"""A Markdown tree as paragraphs, lists and tables of a DOCX file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from research.rendering import host_of, is_told

from .docx_parts import PLAIN, Look, Parts
from .tree import DEEPEST, Token, joint, rows_of, text_of

WIDEST = 40
"""Columns; Word itself opens no table with more than 63."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block stands: in which list, and how deep in lists and quotes."""

    lists: int = 0
    quotes: int = 0
    list_id: int = 0
    first: bool = False  # the paragraph that has the item's number

    @property
    def depth(self) -> int:
        """Return how far it is set in."""
        return min(self.lists, DEEPEST) + min(self.quotes, DEEPEST)


TOP = Place()


class Writer:
    """Writes a tree to the end of a file. `known` are the numbers that are citations."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.known: frozenset[int] = frozenset()

    def line(self, style: str, text: str) -> Any:
        """Add a paragraph of plain text."""
        paragraph = self.parts.paragraph(style)
        self.parts.run(paragraph, text)
        return paragraph

    def blocks(self, tokens: list[Token], place: Place = TOP) -> None:
        """Add blocks."""
        for token in tokens:
            if token["type"] == "blank_line":
                continue
            self._block(token, place)
            place = replace(place, first=False)

    def _block(self, token: Token, place: Place) -> None:
        match token["type"]:
            case "paragraph" | "block_text":
                self._inline(self._paragraph(place), token["children"], PLAIN)
            case "heading":
                level = min(max(token["attrs"]["level"], 2), 4)
                paragraph = self.parts.paragraph(f"Heading {level}")
                self._inline(paragraph, token["children"], PLAIN)
            case "thematic_break":
                self.parts.run(self.parts.paragraph("Normal", align="center"), "⁂")
            case "block_code":
                paragraph = self.parts.paragraph("Code", indent=place.depth)
                self.parts.run(paragraph, token["raw"].strip("\n"))
            case "block_quote":
                self.blocks(token["children"], replace(place, quotes=place.quotes + 1))
            case "list":
                self._list(token, place)
            case "table":
                self._table(token)
            case _:
                self.parts.run(self._paragraph(place), text_of(token).strip())

    def _paragraph(self, place: Place) -> Any:
        style = "List Paragraph" if place.lists else "Quote" if place.quotes else "Normal"
        if place.first:
            return self.parts.paragraph(style, item=(place.list_id, place.lists - 1))
        indent = place.depth if place.lists or place.quotes > 1 else 0
        return self.parts.paragraph(style, indent=indent)

    def _list(self, token: Token, place: Place) -> None:
        ordered = token["attrs"]["ordered"]
        start = int(token["attrs"].get("start", 1)) if ordered else None
        list_id = self.parts.new_list(start)
        inside = replace(place, lists=place.lists + 1, list_id=list_id, first=True)
        for item in token["children"]:
            self.blocks(item["children"] or [{"type": "block_text", "children": []}], inside)

    def _table(self, token: Token) -> None:
        rows = rows_of(token)
        width = max((len(row) for row in rows), default=0)
        if not 0 < width <= WIDEST:
            for row in rows:
                self.line("Normal", " | ".join(map(text_of, row)))
            return
        for number, (row, places) in enumerate(
            zip(rows, self.parts.table(len(rows), width), strict=True)
        ):
            for at, place in enumerate(places):
                cell: Token = row[at] if at < len(row) else {"children": [], "attrs": {}}
                align = cell["attrs"].get("align")
                paragraph = self.parts.paragraph("Cell", align=align, cell=place)
                self._inline(paragraph, cell["children"], Look(bold=number == 0))
        self.line("Normal", "")

    # --- running text --------------------------------------------------------------------------
    def _inline(self, paragraph: Any, tokens: list[Token], look: Look) -> None:
        before = ""
        for at, token in enumerate(tokens):
            after = tokens[at + 1] if at + 1 < len(tokens) else None
            match token["type"]:
                case "softbreak":
                    between = joint(before, text_of(after) if after else "")
                    self.parts.run(paragraph, between, look)
                case "linebreak":
                    self.parts.run(paragraph, "\n")
                case "text" if after and self._is_cited(after):  # the number stands close
                    self.parts.run(paragraph, token["raw"].rstrip(" "), look)
                case "strong":
                    self._inline(paragraph, token["children"], replace(look, bold=True))
                case "emphasis":
                    self._inline(paragraph, token["children"], replace(look, italic=True))
                case "strikethrough":
                    self._inline(paragraph, token["children"], replace(look, strike=True))
                case "image":  # its words: nothing is loaded
                    self._inline(paragraph, token["children"], look)
                case "codespan":
                    self.parts.run(paragraph, token["raw"], replace(look, code=True))
                case "link":
                    self._link(paragraph, token, look)
                case "cite" if self._is_cited(token):
                    self.parts.cite(paragraph, token["raw"])
                case _:
                    self.parts.run(paragraph, text_of(token), look)
            before = text_of(token)

    def _is_cited(self, token: Token) -> bool:
        return token["type"] == "cite" and int(token["raw"]) in self.known

    def _link(self, paragraph: Any, token: Token, look: Look) -> None:
        url, text = token["attrs"]["url"], text_of(token)
        self.parts.link(paragraph, url, text, look)
        host = host_of(url)
        if text and not is_told(host, text):
            self.parts.run(paragraph, f" ({host})", Look(soft=True))
