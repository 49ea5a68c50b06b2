"""PDF and Word files, made for the tests by the tools that people make them with."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path

import docx
import manimgx_fonts
import manimgx_fonts_cjk
import typst

FONTS = typst.Fonts(
    include_system_fonts=False,
    font_paths=[Path(package.__file__).parent for package in (manimgx_fonts, manimgx_fonts_cjk)],
)
SET = """
#set page(width: 300pt, height: 260pt)
#set text(font: ("Noto Sans", "Noto Sans CJK SC"), size: 11pt)
"""
TIDES = """
#set page(header: [Tides Annual #h(1fr) #context counter(page).display()])
= Tides of the bay
The tide rises twice a day in the bay, because the Moon pulls the water and the harbour master has
measured it with care since 1911.

潮汐每天涨落两次，因为月球的引力拉动海水，港口的水位因此变化，船只必须等待涨潮才能进港。

== Spring tides
Spring tides come at full and new moon.
#pagebreak()
== 小潮
小潮出现在上弦月和下弦月，此时太阳与月球的引力互相抵消。

- The first point of a list
- The second point of a list
#pagebreak()
== Storm surges
The highest water of the bay was 9.4 m, on the twelfth of March 1977. It broke the old sea wall, and
the town has had a new one since. Nobody who had seen it forgot it, and most of those who had lived
at the quay moved up the hill, where their children and the children of their children live today.
#pagebreak()
== Last page
The pilots keep the tables of the tides in the lighthouse.
"""


@cache
def pdf(body: str = TIDES) -> bytes:
    """Return a PDF that is set from typst's markup."""
    source = (SET + body).encode()
    made = typst.Compiler(source, font_paths=FONTS).compile(format="pdf")
    assert isinstance(made, bytes)
    return made


@cache
def word() -> bytes:
    """Return a Word document with headings, lists, a table and Chinese."""
    document = docx.Document()
    document.add_heading("潮汐手册", 0)
    document.add_heading("Tides", 1)
    document.add_paragraph("The tide rises twice a day. 潮汐每天涨落两次。")
    document.add_paragraph("Wait for high water", style="List Bullet")
    document.add_paragraph("Ask the pilot", style="List Number")
    document.add_heading("Ports", 2)
    table = document.add_table(3, 2)
    table.style = "Table Grid"
    rows = (("Port", "Height"), ("Brest", "7.5 m"), ("加来", "6.9 m"))
    for row, said in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, said, strict=True):
            cell.text = text
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def rewritten(data: bytes, parts: Mapping[str, bytes]) -> bytes:
    """Return a Word document with other parts in it."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            if info.filename not in parts:
                new.writestr(info, old.read(info))
        for name, part in parts.items():
            new.writestr(name, part, zipfile.ZIP_DEFLATED)
    return out.getvalue()


BODY = (
    '<?xml version="1.0" encoding="UTF-8"?>{before}<w:document xmlns:w='
    '"http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc='
    '"http://schemas.openxmlformats.org/markup-compatibility/2006">'
    "<w:body>{body}</w:body></w:document>"
)


def word_of(body: str, before: str = "", **parts: bytes) -> bytes:
    """Return a Word document whose text is this XML."""
    document = BODY.format(body=body, before=before).encode()
    return rewritten(word(), {"word/document.xml": document, **parts})
