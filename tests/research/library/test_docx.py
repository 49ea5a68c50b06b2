"""Word documents: what is read of them, and what is not followed."""

from __future__ import annotations

import struct
import zipfile
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.library import docx_parts
from research.library.docx import read_docx
from research.library.page import Page
from research.library.parse import parse
from research.library.unreadable import Unreadable

from .papers import rewritten, word, word_of


def blocks(page: Page) -> list[tuple[str, str]]:
    return [(block.kind, page.text[block.start : block.end]) for block in page.blocks]


def test_headings_paragraphs_lists_and_tables_are_read() -> None:
    page = read_docx(word(), "tides.docx")
    assert page.title == "潮汐手册"
    assert blocks(page) == [
        ("prose", "The tide rises twice a day. 潮汐每天涨落两次。"),
        ("item", "Wait for high water"),
        ("item", "Ask the pilot"),
        ("row", "Port: Brest | Height: 7.5 m"),
        ("row", "Port: 加来 | Height: 6.9 m"),
    ]
    assert page.blocks[-1].headings == ("潮汐手册", "Tides", "Ports")


def test_what_was_deleted_and_the_code_of_fields_are_not_said() -> None:
    body = (
        "<w:p><w:r><w:t>The lamp </w:t></w:r>"
        "<w:del><w:r><w:delText>never </w:delText></w:r></w:del>"
        '<w:r><w:instrText>HYPERLINK "http://x"</w:instrText></w:r>'
        "<w:ins><w:r><w:t>burns</w:t></w:r></w:ins>"
        "<w:r><w:tab/><w:t>oil</w:t><w:br/><w:t>at night.</w:t></w:r></w:p>"
    )
    assert blocks(read_docx(word_of(body), "a.docx")) == [("prose", "The lamp burns oil at night.")]


def test_a_text_box_is_said_once() -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent>"
    body = (
        "<w:p><w:r><w:t>Before it.</w:t></w:r><w:r><mc:AlternateContent><mc:Choice>"
        f"{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    assert blocks(read_docx(word_of(body), "a.docx")) == [
        ("prose", "Before it."),
        ("prose", "In a box."),
    ]


def test_the_table_of_contents_is_left_out_and_localised_styles_are_known() -> None:
    styles = (
        '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:style w:styleId="1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="11"><w:name w:val="toc 1"/></w:style>'
        '<w:style w:styleId="own"><w:basedOn w:val="1"/><w:name w:val="Mine"/></w:style>'
        '<w:style w:styleId="loop"><w:basedOn w:val="loop"/><w:name w:val="Loop"/></w:style>'
        "</w:styles>"
    )

    def paragraph(style: str, text: str) -> str:
        return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'

    body = (
        paragraph("11", "灯塔......3")
        + paragraph("own", "灯塔")
        + paragraph("loop", "灯塔警告船只。")
    )
    data = rewritten(word_of(body), {"word/styles.xml": styles.encode()})
    page = read_docx(data, "a.docx")
    assert (page.title, blocks(page)) == ("灯塔", [("prose", "灯塔警告船只。")])


def test_merged_cells_say_in_each_row_what_they_span() -> None:
    def row(*cells: tuple[str, str]) -> str:
        said = (
            f"<w:tc><w:tcPr>{given}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"
            for text, given in cells
        )
        return f"<w:tr>{''.join(said)}</w:tr>"

    begins, goes_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    body = (
        '<w:tbl><w:tblPr><w:tblLook w:val="0020"/></w:tblPr>'
        + row(("Sea", ""), ("Port", ""), ("Depth", ""))
        + row(("North", begins), ("Hull", ""), ("9 m", ""))
        + row(("", goes_on), ("Esbjerg", '<w:gridSpan w:val="2"/>'))
        + "</w:tbl>"
    )
    assert blocks(read_docx(word_of(body), "a.docx")) == [
        ("row", "Sea: North | Port: Hull | Depth: 9 m"),
        ("row", "Sea: North | Port: Esbjerg"),
    ]


# --- what cannot be read --------------------------------------------------------------------------
def code_of(data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        parse("a.docx", data)
    return caught.value.code


def test_what_a_file_declares_is_not_read_neither_from_disk_nor_as_a_bomb() -> None:
    said = "<w:p><w:r><w:t>Before</w:t></w:r><w:r><w:t> &x; after.</w:t></w:r></w:p>"
    outside = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    assert "root:" not in read_docx(word_of(said, outside), "a.docx").text
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))
    bomb = f'<!DOCTYPE d [<!ENTITY l0 "ha">{laughs}<!ENTITY x "&l8;">]>'
    assert code_of(word_of(said, bomb)) == "broken"


def test_an_archive_that_would_unpack_to_gigabytes_is_refused_unread() -> None:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"word/part{number}.xml", b" " * 40_000_000)
    assert len(out.getvalue()) < 200_000
    assert code_of(out.getvalue()) == "unpacks_too_large"


def test_an_archive_that_lies_about_its_size_is_damaged() -> None:
    data = bytearray(word_of("<w:p><w:r><w:t>" + "a" * 100_000 + "</w:t></w:r></w:p>"))
    entry = data.rindex(b"PK\x01\x02", 0, data.rindex(b"word/document.xml"))
    data[entry + 24 : entry + 28] = struct.pack("<L", 10)
    assert code_of(bytes(data)) == "broken"


def test_an_archive_of_very_many_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx_parts, "MAX_PARTS", 3)
    assert code_of(word()) == "unpacks_too_large"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"PK\x03\x04 and no more", "broken"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, "protected"),
        (b"plain text", "broken"),
    ],
)
def test_what_is_no_document_says_why(data: bytes, code: str) -> None:
    assert code_of(data) == code


def test_a_document_of_nothing_has_no_text() -> None:
    assert code_of(word_of("<w:p/>")) == "no_text"


@given(st.integers(0, 3000), st.binary(min_size=1, max_size=40))
def test_every_damage_is_either_read_over_or_told(place: int, junk: bytes) -> None:
    data = bytearray(word())
    at = place * len(data) // 3001
    data[at : at + len(junk)] = junk
    try:
        parse("a.docx", bytes(data))
    except Unreadable as error:
        assert str(error)
