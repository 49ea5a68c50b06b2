"""Typst source out of a Markdown tree. Every text becomes a string literal, and stays a text.

Expressions end in `;`: inside the braces of a code block they are joined into content.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from research.rendering import host_of, is_told

from .document import is_link
from .tree import DEEPEST, Token, joint, rows_of, text_of

WIDEST = 16
"""Columns of a table that a page has room for; a wider one is written line by line."""
_LONG_WORD = re.compile(r"([!-~]{32})(?=[!-~])")
_LAST_WORD = re.compile(r"(?:[^\s\u2e80-\uffef]{1,24}|[\u2e80-\uffef])\Z")


def literal(text: str) -> str:
    """Return a string literal: there is nothing in it that means something to Typst."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def words(text: str) -> str:
    """Return running text: a literal, or several where a word is longer than a line may be."""
    pieces = [literal(piece) for piece in _LONG_WORD.split(text) if piece]
    if len(pieces) < 2:
        return pieces[0] if pieces else '""'
    return f"{{{'; h(0pt); '.join(pieces)}}}"  # a line may end at a space of no width


def blocks(tokens: Iterable[Token], known: frozenset[int], depth: int = 0) -> str:
    """Return the blocks of a tree as Typst expressions."""
    return "".join(_Writer(known).block(token, depth) for token in tokens)


class _Writer:
    def __init__(self, known: frozenset[int]) -> None:
        self.known = known

    def block(self, token: Token, depth: int) -> str:
        children = token.get("children", [])
        match token["type"]:
            case "blank_line":
                return ""
            case "paragraph" | "block_text":
                inside = self.inline(children)
                return f"par({{{inside}}});\n" if inside else ""
            case "heading":
                level = min(max(token["attrs"]["level"], 2), 4)
                return f"heading(level: {level}, {{{self.inline(children)}}});\n"
            case "thematic_break":
                return "line(length: 100%, stroke: .5pt + line-colour);\n"
            case "block_code":
                return f"raw(block: true, {literal(token['raw'].strip(chr(10)))});\n"
            case "block_quote":
                inside = self._blocks(children, depth + 1)
                return f"bar(line-colour, {{{inside}}});\n" if depth < DEEPEST else inside
            case "list":
                return self._list(token, depth)
            case "table":
                return self._table(token)
        return f"par({{{words(text_of(token).strip())};}});\n"

    def _blocks(self, tokens: list[Token], depth: int) -> str:
        return "".join(self.block(token, depth) for token in tokens)

    def _list(self, token: Token, depth: int) -> str:
        items = [self._item(item, depth + 1) for item in token["children"]]
        if depth >= DEEPEST:
            return "".join(f"{item};\n" for item in items)
        tight = "true" if token.get("tight", True) else "false"
        if not token["attrs"]["ordered"]:
            made = f"list(tight: {tight}, {', '.join(items)})"
        else:
            start = int(token["attrs"].get("start", 1))
            made = f"enum(tight: {tight}, start: {start}, {', '.join(items)})"
        return f"{made};\n" if depth else f"block({made});\n"

    def _item(self, item: Token, depth: int) -> str:
        """Return an item; its text stands directly in it, so that a tight list is tight."""
        parts = []
        for child in item["children"]:
            if child["type"] == "block_text":
                parts.append(self.inline(child["children"]))
            else:
                parts.append(self.block(child, depth))
        return f"{{{''.join(parts)}}}"

    def _table(self, token: Token) -> str:
        rows = rows_of(token)
        width = max((len(row) for row in rows), default=0)
        if not 0 < width <= WIDEST:
            lines = (" | ".join(text_of(cell) for cell in row) for row in rows)
            return "".join(f"par({{{words(line)};}});\n" for line in lines)
        head, *rest = [[self._cell(cell) for cell in row] for row in rows]
        parts = [f"table.header({', '.join(head)})", *(cell for row in rest for cell in row)]
        return f"block(width: 100%, table(columns: {width}, {', '.join(parts)}));\n"

    def _cell(self, token: Token) -> str:
        align = token["attrs"].get("align") or "left"
        return f"table.cell(align: {align}, {{{self.inline(token['children'])}}})"

    def inline(self, tokens: list[Token]) -> str:
        """Return running text, each citation on the line of the word it follows."""
        parts: list[str] = []
        before, at = "", 0
        while at < len(tokens):
            token = tokens[at]
            end = self._cited_until(tokens, at + (token["type"] == "text"))
            if token["type"] == "softbreak":
                after = text_of(tokens[at + 1]) if at + 1 < len(tokens) else ""
                parts.append('" ";' if joint(before, after) else "")
            elif token["type"] == "text" and end > at + 1:
                parts.append(self._glued(token["raw"].rstrip(" "), tokens[at + 1 : end]))
                token, at = tokens[end - 1], end - 1
            else:
                parts.append(self._inline(token))
            before, at = text_of(token), at + 1
        return "".join(parts)

    def _cited_until(self, tokens: list[Token], at: int) -> int:
        """Return where the citations that stand at a place end."""
        while at < len(tokens) and self._is_cited(tokens[at]):
            at += 1
        return at

    def _is_cited(self, token: Token) -> bool:
        return token["type"] == "cite" and int(token["raw"]) in self.known

    def _glued(self, text: str, citations: list[Token]) -> str:
        numbers = "".join(map(self._inline, citations))
        if not (last := _LAST_WORD.search(text, max(0, len(text) - 24))):
            return f"{words(text)};{numbers}"
        return f"{words(text[: last.start()])};box({{{words(last[0])};{numbers}}});"

    def _inline(self, token: Token) -> str:
        match token["type"]:
            case "text":
                return f"{words(token['raw'])};"
            case "linebreak":
                return "linebreak();"
            case "codespan":
                return f"inline-code({literal(token['raw'])});"
            case "strong" | "emphasis" | "strikethrough" as kind:
                call = {"strong": "strong", "emphasis": "emph", "strikethrough": "strike"}[kind]
                return f"{call}({{{self.inline(token['children'])}}});"
            case "link":
                return self._link(token)
            case "cite" if self._is_cited(token):
                return f"cite-number({literal(token['raw'])});"
            case "image":  # its words: nothing is loaded
                return self.inline(token["children"])
        return f"{words(text_of(token))};"

    def _link(self, token: Token) -> str:
        url, inside = token["attrs"]["url"], self.inline(token["children"])
        if not inside or not is_link(url):
            return inside
        host = host_of(url)
        told = f"host({literal(f' ({host})')});" if not is_told(host, text_of(token)) else ""
        return f"away({literal(url)}, {{{inside}}});{told}"
