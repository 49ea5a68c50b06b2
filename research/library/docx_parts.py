"""What a .docx archive holds: its parts, unpacked within limits, and what its styles mean."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from dataclasses import dataclass
from io import BytesIO

from lxml import etree

from research.library.unreadable import Unreadable

MAX_UNPACKED = 100_000_000
MAX_PARTS = 10_000
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_DOCUMENT = "/officeDocument"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How a document begins that is locked by a password, or of before 2007."""


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph's style says of it: a heading's level, 0 for none; whether it is an item."""

    level: int
    item: bool
    contents: bool


PLAIN = Style(0, False, False)


class Parts:
    """The parts of an archive."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):
            raise Unreadable("protected")
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError):
            raise Unreadable("broken") from None
        infos = self._zip.infolist()
        if len(infos) > MAX_PARTS or sum(info.file_size for info in infos) > MAX_UNPACKED:
            raise Unreadable("unpacks_too_large")

    def tree(self, name: str) -> etree._Element | None:
        """Return a part as XML, None if there is none.

        What it declares of entities is not read; what is larger than it says is damaged.
        """
        try:
            info = self._zip.getinfo(name)
            if info.flag_bits & 1:
                raise Unreadable("protected")
            data = self._zip.read(info)
        except KeyError:
            return None
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError):
            raise Unreadable("broken") from None
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
        )
        try:
            return etree.fromstring(data.replace(_STRICT, W[1:-1].encode()), parser)
        except etree.XMLSyntaxError:
            raise Unreadable("broken") from None

    def document(self) -> etree._Element:
        """Return the part that is the text."""
        relations = self.tree("_rels/.rels")
        name = "word/document.xml"
        for relation in relations if relations is not None else ():
            if str(relation.get("Type", "")).endswith(_DOCUMENT):
                name = posixpath.normpath(str(relation.get("Target", name))).lstrip("/")
        found = self.tree(name)
        if found is None or found.find(f"{W}body") is None:
            raise Unreadable("broken")
        return found

    def styles(self) -> dict[str, Style]:
        """Return what each style means by its id; their names are English in every language."""
        tree = self.tree("word/styles.xml")
        if tree is None:
            return {}
        rows = {str(row.get(f"{W}styleId")): row for row in tree.iterfind(f"{W}style")}
        return {key: _style(key, rows) for key in rows}


def _style(key: str, rows: dict[str, etree._Element]) -> Style:
    level, item, contents = 0, False, False
    seen: set[str] = set()
    while key in rows and key not in seen:
        seen.add(key)
        row = rows[key]
        name = str(value(row, "name")).lower()
        contents = contents or name.startswith("toc ")
        item = item or row.find(f"{W}pPr/{W}numPr") is not None
        if not level:
            if name == "title":
                level = 1
            elif name.startswith("heading ") and name[8:].isdecimal():
                level = int(name[8:]) + 1
            elif (outline := outline_level(row.find(f"{W}pPr"))) is not None:
                level = outline
        key = value(row, "basedOn")
    return Style(min(level, 9), item and not level, contents)


def value(parent: etree._Element | None, *names: str) -> str:
    """Return the `w:val` of the element at a path, or nothing."""
    if parent is None:
        return ""
    found = parent.find("/".join(f"{W}{name}" for name in names))
    return "" if found is None else str(found.get(f"{W}val", ""))


def outline_level(properties: etree._Element | None) -> int | None:
    """Return the level of a heading that the properties of a paragraph give, if they do."""
    said = value(properties, "outlineLvl")
    return int(said) + 2 if said.isdecimal() and len(said) == 1 and said != "9" else None
