"""The tables of reStructuredText: simple, grid and list."""

from __future__ import annotations

import csv
import re
from itertools import pairwise

Table = tuple[list[str], list[list[str]]]

_SIMPLE = re.compile(r"=+(?:[ ]+=+)+[ ]*\Z")
_GRID = re.compile(r"\+(?:[-=]+\+)+[ ]*\Z")


def is_simple(line: str) -> bool:
    """Tell whether a line is the rule of a simple table."""
    return bool(_SIMPLE.match(line))


def is_grid(line: str) -> bool:
    """Tell whether a line is the rule of a grid table."""
    return bool(_GRID.match(line))


def simple_table(lines: list[str]) -> Table:
    """Return the header and rows between the rules of a simple table."""
    columns = [match.span() for match in re.finditer("=+", lines[0])]
    parts: list[list[list[str]]] = [[]]
    for line in lines[1:]:
        if is_simple(line):
            parts.append([])
        elif line.strip() and set(line.strip()) != {"-", " "}:
            cells = [
                line[start : (columns[index + 1][0] if index + 1 < len(columns) else None)].strip()
                for index, (start, _) in enumerate(columns)
            ]
            if cells[0] or not parts[-1]:
                parts[-1].append(cells)
            else:  # an empty first cell goes on with the row above
                parts[-1][-1] = [
                    f"{a} {b}".strip() for a, b in zip(parts[-1][-1], cells, strict=True)
                ]
    filled = [part for part in parts if part]
    if len(filled) > 1:
        header = [" ".join(cells).strip() for cells in zip(*filled[0], strict=True)]
        return header, [row for part in filled[1:] for row in part]
    return [], filled[0] if filled else []


def grid_table(lines: list[str]) -> Table:
    """Return the header and rows of a grid table; cells that span are read by their lines."""
    header: list[str] = []
    rows: list[list[str]] = []
    current: list[str] | None = None
    columns = [match.start() for match in re.finditer(r"\+", lines[0])]
    for line in lines:
        if line.startswith("+"):
            if current is not None:
                rows.append(current)
            if "=" in line and not header and rows:
                header = [" ".join(cells).strip() for cells in zip(*rows, strict=True)]
                rows = []
            current = None
            continue
        cells = [
            line[left + 1 : right].strip().strip("|").strip() for left, right in pairwise(columns)
        ]
        current = (
            cells if current is None else [f"{a} {b}" for a, b in zip(current, cells, strict=True)]
        )
    if current is not None:
        rows.append(current)
    return header, rows


def list_table(lines: list[str], *, comma: bool = False) -> Table:
    """Return the header and rows of a `list-table` or a `csv-table` body, options included."""
    options = [line for line in lines if line.startswith(":")]
    body = [line for line in lines if line.strip() and not line.startswith(":")]
    heads = (
        next((re.sub(r"\D", "", o) for o in options if o.startswith(":header-rows:")), "0") or "0"
    )
    named = next((o.split(":", 2)[2] for o in options if o.startswith(":header:")), "")
    if comma:
        rows = [[cell.strip() for cell in row] for row in csv.reader(body, skipinitialspace=True)]
    else:
        rows = []
        for line in body:
            text = line.strip()
            if text.startswith("* -") or text == "*":
                rows.append([text[3:].strip()])
            elif line.lstrip().startswith("- ") and rows and len(line) - len(line.lstrip()) <= 4:
                rows[-1].append(text[2:].strip())
            elif rows and rows[-1]:
                rows[-1][-1] = f"{rows[-1][-1]} {text}"
    if named:
        return next(csv.reader([named], skipinitialspace=True)), rows
    if heads != "0" and rows:
        return rows[0], rows[1:]
    return [], rows
