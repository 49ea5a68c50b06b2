"""What a DOCX file is made of: paragraphs, runs, links, bookmarks, lists, its footer.

Elements are made by hand where there may be very many of them: python-docx looks a style up among
all styles for each paragraph.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import docx
from docx.document import Document as Docx
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Mm

from .document import is_link
from .docx_styles import ACCENT, CHINESE, CODE, LINE, SOFT, style_file

LEVELS = 9  # that a list can have
MOST_LINKS = 2000
"""Each leads out by a relationship of its own, and a file with very many opens slowly."""
BULLETS, DIGITS = "90", "91"  # ids of the two kinds of list
INDENT = 360  # twentieths of a point, a level


@dataclass(frozen=True, slots=True)
class Look:
    """How running text is set."""

    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    soft: bool = False
    small: bool = False
    link: bool = False
    raised: bool = False


PLAIN = Look()


class Parts:
    """A file that is being made. What is added goes to its end, or into a cell of a table."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.docx: Docx = docx.Document()
        self._links: dict[str, str] = {}
        self._bookmarks = 0
        self._lists = 900
        section = self.docx.sections[0]
        section.page_width, section.page_height = Mm(210), Mm(297)
        section.left_margin = section.right_margin = Mm(30)
        section.top_margin = section.bottom_margin = Mm(27)
        self._end = section._sectPr
        self._styles = style_file(self.docx)
        self._numbers = self.docx.part.numbering_part.element
        for place, kind in enumerate((BULLETS, DIGITS)):
            self._numbers.insert(place, _kind_of_list(kind))
        _number_pages(section.footer.paragraphs[0]._p)

    def about(self, title: str, moment: datetime) -> None:
        """Say what the file is; nobody else's name stands in it."""
        facts = self.docx.core_properties
        facts.title, facts.author, facts.comments = title[:255], "Soundings", ""
        facts.language = "zh-CN" if self.language == "zh" else self.language
        facts.created = facts.modified = moment.replace(tzinfo=None)

    # --- blocks --------------------------------------------------------------------------------
    def paragraph(
        self,
        style: str,
        *,
        item: tuple[int, int] | None = None,
        indent: int = 0,
        align: str | None = None,
        cell: Any = None,
    ) -> Any:
        """Add an empty paragraph; `item` is the id and the level of a list that it is one of."""
        made, properties = OxmlElement("w:p"), OxmlElement("w:pPr")
        properties.append(element("w:pStyle", val=self._styles[style]))
        if item:
            number = OxmlElement("w:numPr")
            number.append(element("w:ilvl", val=min(item[1], LEVELS - 1)))
            number.append(element("w:numId", val=item[0]))
            properties.append(number)
        elif indent:
            properties.append(element("w:ind", left=INDENT * indent))
        if align:
            properties.append(element("w:jc", val=align))
        made.append(properties)
        if cell is None:
            self._end.addprevious(made)
        else:
            cell.append(made)
        return made

    def table(self, rows: int, columns: int) -> list[list[Any]]:
        """Add a table, and return its cells: each takes paragraphs and needs one at least."""
        table, grid, look = OxmlElement("w:tbl"), OxmlElement("w:tblGrid"), OxmlElement("w:tblPr")
        look.append(element("w:tblW", w=0, type="auto"))
        lines = OxmlElement("w:tblBorders")
        for side in ("top", "bottom", "insideH"):
            lines.append(element(f"w:{side}", val="single", sz=4, space=0, color=LINE))
        look.append(lines)
        for _ in range(columns):
            grid.append(element("w:gridCol", w=8500 // columns))
        table.extend((look, grid))
        cells = []
        for number in range(rows):
            row = OxmlElement("w:tr")
            if number == 0:
                head = OxmlElement("w:trPr")
                head.append(OxmlElement("w:tblHeader"))
                row.append(head)
            cells.append([OxmlElement("w:tc") for _ in range(columns)])
            row.extend(cells[-1])
            table.append(row)
        self._end.addprevious(table)
        return cells

    def new_list(self, start: int | None) -> int:
        """Begin a list: with a number to count from, or of bullets; return its id."""
        self._lists += 1
        number = element("w:num", numId=self._lists)
        number.append(element("w:abstractNumId", val=BULLETS if start is None else DIGITS))
        if start is not None:
            for level in range(LEVELS):
                restart = element("w:lvlOverride", ilvl=level)
                restart.append(element("w:startOverride", val=min(start, 2**31 - 1)))
                number.append(restart)
        self._numbers.append(number)
        return self._lists

    # --- running text --------------------------------------------------------------------------
    def run(self, parent: Any, text: str, look: Look = PLAIN) -> None:
        """Add text; its line breaks and tabs are kept."""
        if not text:
            return
        made = OxmlElement("w:r")
        if look != PLAIN:
            made.append(deepcopy(_properties(look)))
        made.text = text
        parent.append(made)

    def link(self, paragraph: Any, url: str, text: str, look: Look = PLAIN) -> None:
        """Add a link to the web or a mailbox; any other is text."""
        if not is_link(url) or (url not in self._links and len(self._links) >= MOST_LINKS):
            self.run(paragraph, text, look)
            return
        if url not in self._links:
            kind = RELATIONSHIP_TYPE.HYPERLINK
            self._links[url] = self.docx.part.relate_to(url, kind, is_external=True)
        self._wrap(paragraph, "r:id", self._links[url], text, Look(bold=look.bold, link=True))

    def cite(self, paragraph: Any, number: str) -> None:
        """Add a raised number that leads to its reference."""
        self._wrap(paragraph, "w:anchor", f"ref_{number}", f"[{number}]", Look(raised=True))

    def _wrap(self, paragraph: Any, kind: str, target: str, text: str, look: Look) -> None:
        link = OxmlElement("w:hyperlink")
        link.set(qn(kind), target)
        self.run(link, text, look)
        paragraph.append(link)

    def bookmark(self, paragraph: Any, name: str, text: str) -> None:
        """Add a text that a citation can lead to."""
        self._bookmarks += 1
        paragraph.append(element("w:bookmarkStart", id=self._bookmarks, name=name))
        self.run(paragraph, text, Look(soft=True))
        paragraph.append(element("w:bookmarkEnd", id=self._bookmarks))


def element(tag: str, **attributes: object) -> Any:
    """Return an element of the word namespace, with attributes of the same."""
    made = OxmlElement(tag)
    for name, value in attributes.items():
        made.set(qn(f"w:{name}"), str(value))
    return made


@cache
def _properties(look: Look) -> Any:
    """Return what a run says of its look; the schema has an order."""
    made = OxmlElement("w:rPr")
    if look.code:
        made.append(element("w:rFonts", ascii=CODE, hAnsi=CODE, cs=CODE, eastAsia=CHINESE))
    for name in ("bold", "italic", "strike"):
        if getattr(look, name):
            made.append(OxmlElement("w:strike" if name == "strike" else f"w:{name[0]}"))
    if look.link or look.raised or look.soft:
        made.append(element("w:color", val=SOFT if look.soft else ACCENT))
    if look.small:
        made.append(element("w:sz", val=17))
    if look.link:
        made.append(element("w:u", val="single"))
    if look.raised:
        made.append(element("w:vertAlign", val="superscript"))
    return made


def _kind_of_list(kind: str) -> Any:
    made = element("w:abstractNum", abstractNumId=kind)
    for level in range(LEVELS):
        item = element("w:lvl", ilvl=level)
        item.append(element("w:start", val=1))
        item.append(element("w:numFmt", val="bullet" if kind == BULLETS else "decimal"))
        item.append(element("w:lvlText", val="•" if kind == BULLETS else f"%{level + 1}."))
        item.append(element("w:lvlJc", val="left"))
        indent = OxmlElement("w:pPr")
        indent.append(element("w:ind", left=INDENT * (level + 1), hanging=INDENT))
        item.append(indent)
        made.append(item)
    return made


def _number_pages(paragraph: Any) -> None:
    paragraph.get_or_add_pPr().append(element("w:jc", val="center"))
    for name in ("PAGE", "NUMPAGES"):
        if name == "NUMPAGES":
            slash = OxmlElement("w:r")
            slash.text = " / "
            paragraph.append(slash)
        paragraph.append(element("w:fldSimple", instr=name))
