"""Word documents: headings, paragraphs, lists, and tables by their rows.

The XML is read directly: an archive may come from anybody, and nothing in it is followed.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from research.library.docx_parts import PLAIN, Parts, Style, W, outline_level, value
from research.library.page import Draft, Page
from research.library.unreadable import Unreadable

_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_SKIPPED = frozenset(
    (f"{W}pPr", f"{W}rPr", f"{W}del", f"{W}moveFrom", f"{W}instrText", f"{W}delText", _FALLBACK)
)
"""Settings, what was deleted, the code of fields, and what old programs would show instead."""
_SAID = {f"{W}tab": " ", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_BOX = f"{W}txbxContent"
_MAX_HEADING = 200
_MAX_COLUMNS = 100
_OFF = frozenset(("0", "false", "off"))


def _said(element: etree._Element) -> tuple[str, list[etree._Element]]:
    """Return the text of a paragraph or a cell, and the boxes in it, which stand for themselves."""
    parts: list[str] = []
    boxes: list[etree._Element] = []
    events = etree.iterwalk(element, events=("start", "end"))
    for event, found in events:
        tag = found.tag
        if event == "end":
            if tag == f"{W}p" and found is not element:
                parts.append("\n")
        elif tag in _SKIPPED:
            events.skip_subtree()
        elif tag == _BOX:
            boxes.append(found)
            events.skip_subtree()
        elif tag == f"{W}t":
            parts.append(found.text or "")
        elif tag in _SAID:
            parts.append(_SAID[tag])
    return "".join(parts), boxes


def _blocks(parent: etree._Element) -> Iterator[etree._Element]:
    """Yield the paragraphs and tables below an element, through what merely wraps them."""
    events = etree.iterwalk(parent, events=("start",))
    for _, found in events:
        if found is parent:
            continue
        if found.tag in (f"{W}p", f"{W}tbl"):
            yield found
            events.skip_subtree()
        elif found.tag in _SKIPPED:
            events.skip_subtree()


class _Reader:
    def __init__(self, styles: dict[str, Style]) -> None:
        self.draft = Draft()
        self._styles = styles

    def read(self, parent: etree._Element) -> None:
        """Read what stands below an element."""
        waiting = [_blocks(parent)]
        while waiting:
            found = next(waiting[-1], None)
            if found is None:
                waiting.pop()
            elif found.tag == f"{W}tbl":
                self._table(found)
            else:
                waiting += [_blocks(box) for box in reversed(self._paragraph(found))]

    def _paragraph(self, paragraph: etree._Element) -> list[etree._Element]:
        text, boxes = _said(paragraph)
        properties = paragraph.find(f"{W}pPr")
        style = self._styles.get(value(properties, "pStyle"), PLAIN)
        level = outline_level(properties) or style.level
        if style.contents:
            return boxes
        number = value(properties, "numPr", "numId")
        if level and len(text) <= _MAX_HEADING:
            self.draft.heading(level, text)
        elif (style.item and number != "0") or number not in ("", "0"):
            self.draft.block("item", text)
        else:
            self.draft.block("prose", text)
        return boxes

    def _table(self, table: etree._Element) -> None:
        rows: list[list[str]] = []
        for row in table.iterfind(f".//{W}tr"):
            if next(row.iterancestors(f"{W}tbl")) is table:
                rows.append(_cells(row, rows[-1] if rows else []))
        if max(map(len, rows), default=0) <= 1:  # a frame around text
            for cells in rows:
                self.draft.block("prose", "".join(cells))
            return
        heads = len(rows) > 1 and _heads(table) and all(cell.strip() for cell in rows[0])
        self.draft.rows(rows[0] if heads else [], rows[1:] if heads else rows)


def _heads(table: etree._Element) -> bool:
    """Tell whether the first row of a table names its columns."""
    first = table.find(f"{W}tr")
    if first is not None and first.find(f"{W}trPr/{W}tblHeader") is not None:
        return True
    look = table.find(f"{W}tblPr/{W}tblLook")
    if look is None:
        return False
    given = look.get(f"{W}firstRow")
    if given is not None:
        return given not in _OFF
    bits = str(look.get(f"{W}val", "0"))
    return bool(int(bits, 16) & 0x20) if all(c in "0123456789abcdefABCDEF" for c in bits) else False


def _cells(row: etree._Element, above: list[str]) -> list[str]:
    """Return the cells of a row by column; what spans rows is said in each."""
    cells: list[str] = []
    for cell in row.iterfind(f"{W}tc"):
        properties = cell.find(f"{W}tcPr")
        merged = properties.find(f"{W}vMerge") if properties is not None else None
        at = len(cells)
        if merged is not None and merged.get(f"{W}val", "continue") == "continue":
            cells.append(above[at] if at < len(above) else "")
        else:
            cells.append(_said(cell)[0])
        span = value(properties, "gridSpan")
        if span.isdecimal():
            cells += [""] * (min(int(span[:4]), _MAX_COLUMNS) - 1)
        if len(cells) >= _MAX_COLUMNS:
            break
    return cells


def read_docx(data: bytes, name: str) -> Page:
    """Return a Word document as a page.

    Raises Unreadable for one that is damaged, protected, or would unpack to too much.
    """
    parts = Parts(data)
    body = parts.document().find(f"{W}body")
    if body is None:
        raise Unreadable("broken")
    reader = _Reader(parts.styles())
    reader.read(body)
    return reader.draft.page(name)
