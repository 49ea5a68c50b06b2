"""PDF: all of the text, none of it interpreted."""

from __future__ import annotations

import ctypes
import re

import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdfium2 import raw

from research.report import pdf
from research.report.document import Gap, Section
from research.report.typeset import literal
from tests.research.export import reports
from tests.research.export.reports import MIXED, MIXED_SAYS, bare, report, squashed, text_of_pdf
from tests.research.hostile import EVIL

SIGNS = "#$\\@<>*_`~[](){}!|&;:=+-'\"/^%. \n"
TEXT = st.text(st.sampled_from([*SIGNS, *"abcXYZ", *"灯塔如何，。“”", "é", "ß", "😀", "✅", "→"]))
MEANINGFUL = [
    "#set page(width: 1pt)",
    '#read("/etc/passwd")',
    "$ x^2 $ and #{panic()} and @cite and <label>",
    '"; panic("x"); "',
    '\\", panic("x"), "',
    "\\u{1F600} \\n \\\\",
    '#import "@preview/x:0.1.0": *',
    "// no comment /* no comment */",
    "``` not code ```",
    "<b>raw</b> &amp; <script>alert(1)</script>",
    "= heading\n== heading",
    "/ term: text",
    "a -- b --- c ... \"quotes\" 'single' ~ nbsp",
]
LISTED = re.compile(r"•|\d+\.")


def without_bullets(text: str) -> str:
    return squashed(LISTED.sub("", text))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_text_of_a_mixed_report_can_be_copied_as_it_was_written(language: str) -> None:
    made = text_of_pdf(
        pdf.render(
            report(
                MIXED,
                language=language,
                references=[reports.reference(number) for number in (1, 2, 3)],
            )
        )
    )
    shown = made.partition("In short")[2].partition("References")[0]
    assert squashed(shown).replace("•", "") == squashed(MIXED_SAYS)


@pytest.mark.parametrize("text", MEANINGFUL)
def test_nothing_in_a_text_means_anything_to_typst(text: str) -> None:
    as_code = "```\n" + text + "\n```"
    shown = squashed(text_of_pdf(pdf.render(bare(as_code))))
    assert shown == squashed("T" + text)
    plain = text_of_pdf(pdf.render(bare(text)))
    assert squashed(plain) == squashed("T" + reports.said(text))


@given(text=TEXT)
@settings(deadline=None, max_examples=80)
def test_every_text_is_kept(text: str) -> None:
    shown = text_of_pdf(pdf.render(bare(text)))
    assert without_bullets(shown) == without_bullets("T" + reports.said(text))


@given(st.text())
def test_every_literal_is_one_string(text: str) -> None:
    made = literal(text)
    assert re.fullmatch(r'"(?:[^"\\]|\\["\\])*"', made, re.DOTALL)


def links_of(data: bytes) -> list[str]:
    found = []
    with pypdfium2.PdfDocument(data) as file:
        for page in file:
            for at in range(raw.FPDFPage_GetAnnotCount(page)):
                annotation = raw.FPDFPage_GetAnnot(page, at)
                link = raw.FPDFAnnot_GetLink(annotation)
                action = raw.FPDFLink_GetAction(link) if link else None
                if action:
                    size = raw.FPDFAction_GetURIPath(file, action, None, 0)
                    buffer = ctypes.create_string_buffer(size)
                    raw.FPDFAction_GetURIPath(file, action, buffer, size)
                    found.append(buffer.value.decode())
                else:
                    found.append("#" if link else "?")
                raw.FPDFPage_CloseAnnot(annotation)
            page.close()
    return found


def test_links_lead_to_the_web_or_to_a_mailbox_and_citations_to_their_references() -> None:
    text = (
        "[a](https://a.example/x) [b](javascript:alert(1)) [c](file:///etc/passwd) "
        "[d](mailto:d@example.org) [e](//e.example) [f](data:text/html,x) ![g](http://g.example/g) "
        "word [1] and [9]"
    )
    links = links_of(pdf.render(report(text, references=[reports.reference(1)])))
    assert sorted(links) == [
        "#",
        "https://a.example/x",
        "https://docs.example/lamps/1",
        "mailto:d@example.org",
    ]


def test_hostile_words_everywhere_are_only_words() -> None:
    made = report(
        EVIL,
        title=EVIL,
        question=EVIL,
        facts=[EVIL],
        notice=EVIL,
        gaps=[Gap(EVIL, EVIL)],
        references=[
            reports.reference(n, title=EVIL, uri=EVIL, quote=EVIL, told=EVIL) for n in (1, 2, 3)
        ],
    )
    data = pdf.render(made)
    assert all(link == "#" or link.startswith("https://evil.test") for link in links_of(data))
    assert squashed(text_of_pdf(data)).count("alert(1)") > 20
    for word in (b"/JavaScript", b"/JS", b"/Launch", b"/EmbeddedFile"):
        assert word not in data, word


def test_an_empty_report_says_that_it_is() -> None:
    made = text_of_pdf(pdf.render(report(sections=[], references=[], notice="It was cancelled.")))
    assert "It was cancelled." in made and "No report was written." in made


def test_what_was_not_finished_and_what_is_missing_is_told() -> None:
    begun = Section(title="Begun", text="Half a", finished=False, note="1 reference was taken out.")
    made = text_of_pdf(pdf.render(report(sections=[begun], gaps=[reports.GAP])))
    for said in (
        "Half a",
        "This part was not finished.",
        "1 reference was taken out.",
        "Who pays?",
        "No source says anything about it.",
        "Supported by the passage",
    ):
        assert said in made


def test_the_same_report_is_the_same_file() -> None:
    assert pdf.render(report(MIXED)) == pdf.render(report(MIXED))


def test_a_long_report_has_numbered_pages_and_its_title_above_them() -> None:
    data = pdf.render(report("A paragraph of some words.\n\n" * 200))
    with pypdfium2.PdfDocument(data) as file:
        pages = len(file)
        last = file[pages - 1].get_textpage().get_text_range()
        first = file[0].get_textpage().get_text_range()
    assert pages > 3
    assert f"{pages} / {pages}" in last and "Lighthouses" in last
    assert first.count("Lighthouses") == 1
