"""Tables in HTML: those that hold data, cell by cell under their column's name."""

from __future__ import annotations

from lxml import etree

from research.text.clean import unwrap

_UNREAD = frozenset(("script", "style", "template", "noscript"))
_MAX_SPAN = 50
_MAX_ROWS = 20_000


def text_of(element: etree._Element) -> str:
    """Return the text inside an element on one line."""
    parts: list[str] = []
    events = etree.iterwalk(element, events=("start", "end"))
    for event, child in events:
        if event == "start":
            if child.tag in _UNREAD:
                events.skip_subtree()
            elif child.text and isinstance(child.tag, str):
                parts.append(child.text)
            if child.tag in ("p", "br", "li", "div"):
                parts.append(" ")
        elif child is not element and child.tail:
            parts.append(child.tail)
    return unwrap("".join(parts))


def _rows(table: etree._Element) -> list[list[etree._Element]]:
    rows = []
    for row in table.iter("tr"):
        cells = [cell for cell in row if cell.tag in ("td", "th")]
        if cells:
            rows.append(cells)
        if len(rows) >= _MAX_ROWS:
            break
    return rows


def is_data_table(table: etree._Element) -> bool:
    """Tell whether a table holds rows of data, and not the layout of a page."""
    if next(table.iterdescendants("table"), None) is not None:
        return False
    rows = _rows(table)
    if len(rows) < 2:
        return False
    if max(len(row) for row in rows) < 2:
        return _described(rows)
    if rows[0][0].get("rowspan") == "2" and len(rows) == 2:  # an icon beside a note
        return False
    if all(cell.tag == "th" for cell in rows[0]) and len(rows[0]) > 1:
        return True
    if next(table.iterdescendants("img"), None) is not None and len(rows) < 3:
        return False
    sizes = [len(text_of(cell)) for row in rows[:20] for cell in row]
    return max(sizes) < 400 and table.get("role") != "presentation"


def _described(rows: list[list[etree._Element]]) -> bool:
    """Tell whether a table of one column holds things, each with what it is below its name."""
    entries = [row[0] for row in rows if row[0].tag == "td"]
    return bool(entries) and rows[0][0].tag == "th" and all(cell.findall("p") for cell in entries)


def _cell(cell: etree._Element) -> str:
    """Return the text of a cell; of several paragraphs the first names what the others say."""
    paragraphs = [text for found in cell.findall("p") if (text := text_of(found))]
    if len(paragraphs) < 2:
        return text_of(cell)
    return f"{paragraphs[0]}: {' '.join(paragraphs[1:])}"


def _span(cell: etree._Element) -> int:
    value = cell.get("colspan") or "1"
    return min(int(value), _MAX_SPAN) if value.isdigit() and len(value) < 4 else 1


def table_rows(table: etree._Element) -> tuple[list[str], list[list[str]]]:
    """Return the column names, if the table has any, and the rows below them."""
    rows = _rows(table)
    header: list[str] = []
    if all(cell.tag == "th" for cell in rows[0]):
        for cell in rows[0] if max(len(row) for row in rows) > 1 else ():
            header += [text_of(cell)] * max(1, _span(cell))
        rows = rows[1:]
    body = []
    for row in rows:
        cells: list[str] = []
        for cell in row:
            cells += [_cell(cell)] + [""] * (max(1, _span(cell)) - 1)
        body.append(cells)
    return header, body
