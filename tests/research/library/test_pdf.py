"""PDFs: pages, headings, paragraphs, and what cannot be read."""

from __future__ import annotations

import zlib
from io import BytesIO

import pypdfium2
import pytest

from research.library.page import PAGE_LEVEL, Page
from research.library.parse import parse
from research.library.pdf import MAX_PAGES, read_pdf
from research.library.unreadable import Unreadable

from .papers import pdf


@pytest.fixture(scope="module")
def tides() -> Page:
    return read_pdf(pdf(), "tides.pdf")


def said_under(page: Page) -> dict[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}
    for block in page.blocks:
        found.setdefault(block.headings, []).append(page.text[block.start : block.end])
    return found


def test_every_passage_tells_its_section_and_its_page(tides: Page) -> None:
    assert tides.title == "Tides of the bay"
    assert list(said_under(tides)) == [
        ("Tides of the bay", "Page 1"),
        ("Tides of the bay", "Spring tides", "Page 1"),
        ("Tides of the bay", "小潮", "Page 2"),
        ("Tides of the bay", "Storm surges", "Page 3"),
        ("Tides of the bay", "Last page", "Page 4"),
    ]


def test_wrapped_lines_are_joined_and_chinese_ones_without_a_space(tides: Page) -> None:
    under = said_under(tides)
    first, second = under["Tides of the bay", "Page 1"]
    assert first.startswith(
        "The tide rises twice a day in the bay, because the Moon pulls the water"
    )
    assert second == (
        "潮汐每天涨落两次，因为月球的引力拉动海水，港口的水位因此变化，船只必须等待涨潮才能进港。"
    )


def test_list_items_are_items_without_their_marks(tides: Page) -> None:
    items = [tides.text[b.start : b.end] for b in tides.blocks if b.kind == "item"]
    assert items == ["The first point of a list", "The second point of a list"]


def test_headers_that_run_through_the_pages_are_left_out(tides: Page) -> None:
    assert "Tides Annual" not in tides.text


def test_the_text_shows_where_each_page_begins(tides: Page) -> None:
    pages = [tides.text[a:b] for level, a, b in _outline(tides) if level == PAGE_LEVEL]
    assert pages == ["Page 1", "Page 2", "Page 3", "Page 4"]


def _outline(page: Page) -> list[tuple[int, int, int]]:
    return [(heading.level, heading.start, heading.end) for heading in page.outline]


def test_a_paragraph_over_the_turn_of_a_page_is_whole_on_the_first() -> None:
    page = read_pdf(
        pdf("= Long\n" + "The keeper counts every ship that passes the rock. " * 40), "a.pdf"
    )
    told = said_under(page)
    assert all(text.endswith("rock.") for texts in told.values() for text in texts)
    assert ("Long", "Page 1") in told


def test_two_columns_are_read_one_after_the_other() -> None:
    left = "The left column tells of lamps and of the oil that they burn at night."
    right = "The right column tells of horns and of the fog in which they sound."
    page = read_pdf(pdf(f"#columns(2)[{left} #colbreak() {right}]"), "a.pdf")
    assert [page.text[b.start : b.end] for b in page.blocks] == [left, right]


def test_a_pdf_without_large_letters_is_named_after_its_file_or_its_title() -> None:
    assert read_pdf(pdf("Just a line of text."), "old_tide-tables.pdf").title == "old tide tables"
    titled = '#set document(title: "The tide tables")\nJust a line of text.'
    assert read_pdf(pdf(titled), "a.pdf").title == "The tide tables"


def test_emoji_and_rare_characters_are_where_they_belong() -> None:
    page = read_pdf(pdf("= Signals\nThe pilot says 𠮷 and waves. Then the ship sails."), "a.pdf")
    assert "The pilot says 𠮷 and waves. Then the ship sails." in page.text


# --- what cannot be read --------------------------------------------------------------------------
def code_of(data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        parse("a.pdf", data)
    return caught.value.code


def objects(*bodies: bytes) -> bytes:
    """Return a PDF of these objects, the first of which is its catalogue."""
    out = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(bodies, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    table += b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        len(bodies) + 1,
        len(out),
    )
    return out + table + trailer


def test_what_is_no_pdf_is_damaged() -> None:
    assert code_of(b"%PDF-1.7\nnothing of it\n") == "broken"
    assert code_of(b"\x00" * 1000) == "broken"
    assert code_of(pdf()[:400]) == "broken"


def test_an_empty_one_is_empty() -> None:
    assert code_of(b"") == "empty"


def test_one_of_pictures_alone_says_so() -> None:
    document = pypdfium2.PdfDocument.new()
    document.new_page(200, 200)
    out = BytesIO()
    document.save(out)
    assert code_of(out.getvalue()) == "scanned"


def test_one_that_is_locked_says_so() -> None:
    key = b"<" + b"00" * 32 + b">"
    locked = objects(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>",
        b"<</Filter/Standard/V 1/R 2/O %s/U %s/P -4>>" % (key, key),
    ).replace(b"/Root 1 0 R", b"/Root 1 0 R/Encrypt 4 0 R/ID[<00><00>]")
    assert code_of(locked) == "protected"


def test_pages_that_lead_in_a_circle_end() -> None:
    circle = objects(
        b"<</Type/Catalog/Pages 2 0 R/Outlines 3 0 R>>",
        b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>",
        b"<</First 3 0 R/Last 3 0 R/Next 3 0 R>>",
    )
    assert code_of(circle) in ("scanned", "broken")


def test_one_that_claims_a_hundred_thousand_pages_is_too_long() -> None:
    kids = b"3 0 R " * 100_000
    many = objects(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count 100000>>" % kids,
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>",
    )
    assert code_of(many) == "too_long"
    assert str(MAX_PAGES) in str(Unreadable("too_long", str(MAX_PAGES)))


def test_a_page_that_unpacks_to_a_hundred_megabytes_is_no_text() -> None:
    packed = zlib.compress(b" " * 100_000_000, 9)
    bomb = objects(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
    )
    assert code_of(bomb) == "scanned"
