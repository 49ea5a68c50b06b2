"""DOCX: a real document, with all of the text and nothing from outside."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import docx
import pytest
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from research.report.document import Section, printable
from research.report.docx import render
from tests.research.export import reports
from tests.research.export.reports import (
    MIXED,
    MIXED_SAYS,
    bare,
    reference,
    report,
    squashed,
    text_of_docx,
)
from tests.research.hostile import EVIL

SIGNS = "#$\\@<>*_`~[](){}!|&;:=+-'\"/^%. \n\t"
TEXT = st.text(st.sampled_from([*SIGNS, *"abcXYZ", *"灯塔如何，。“”", "é", "ß", "😀", "✅", "→"]))


def number_of(paragraph: Paragraph) -> Any:
    """Return of which list, and at which level, a paragraph is an item."""
    properties: Any = paragraph._p.pPr
    return properties.numPr


def paragraphs(data: bytes) -> list[Paragraph]:
    return docx.Document(BytesIO(data)).paragraphs


def style_of(paragraph: Paragraph) -> str:
    style = paragraph.style
    assert style is not None
    return str(style.name)


def links_of(data: bytes) -> dict[str, list[str]]:
    """Return what leads out of each part of the file, by kind."""
    found: dict[str, list[str]] = {}
    with ZipFile(BytesIO(data)) as file:
        for name in file.namelist():
            if name.endswith(".rels"):
                for item in etree.fromstring(file.read(name)):
                    if item.get("TargetMode") == "External":
                        kind = str(item.get("Type")).rpartition("/")[2]
                        found.setdefault(kind, []).append(str(item.get("Target")))
    return found


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_the_text_of_a_mixed_report_is_as_it_was_written(language: str) -> None:
    made = text_of_docx(render(report(MIXED, language=language)))
    shown = made.partition("In short")[2].partition("References")[0]
    assert squashed(shown) == squashed(MIXED_SAYS)


@given(text=TEXT)
@settings(deadline=None, max_examples=25)
def test_every_text_is_kept(text: str) -> None:
    shown = squashed(text_of_docx(render(bare(text))))
    said = squashed("T" + reports.said(text))
    assert shown.replace("⁂", "") == said


@given(text=st.text())
@settings(deadline=None, max_examples=25)
def test_no_sign_of_any_script_breaks_it(text: str) -> None:
    render(bare(printable(text)))


def test_headings_lists_tables_quotes_and_code_are_real() -> None:
    text = "## Two\n\n- a\n  1. b\n\n> c\n\n```\nd\n```\n\n| e | f |\n|---|--:|\n| g | h |"
    data = render(report(text))
    shown = {paragraph.text: style_of(paragraph) for paragraph in paragraphs(data)}
    assert shown["Lighthouses"] == "Title" and shown["In short"] == "Heading 1"
    assert shown["Two"] == "Heading 2" and shown["References"] == "Heading 1"
    assert (shown["c"], shown["d"]) == ("Quote", "Code")
    items = {p.text: number_of(p) for p in paragraphs(data) if p.text in ("a", "b")}
    assert [items[name].ilvl.val for name in ("a", "b")] == [0, 1]
    assert items["a"].numId.val != items["b"].numId.val
    (table,) = docx.Document(BytesIO(data)).tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [["e", "f"], ["g", "h"]]


def test_each_numbered_list_begins_with_its_own_number() -> None:
    data = render(report("1. a\n2. b\n\ntext\n\n7. c\n8. d"))
    numbering = docx.Document(BytesIO(data)).part.numbering_part.element
    starts = {}
    for paragraph in paragraphs(data):
        if paragraph.text in ("a", "c"):
            number = number_of(paragraph).numId.val
            (item,) = numbering.xpath(f"w:num[@w:numId='{number}']")
            starts[paragraph.text] = item.find(f".//{qn('w:startOverride')}").get(qn("w:val"))
    assert starts == {"a": "1", "c": "7"}


def test_every_style_has_a_font_for_chinese() -> None:
    file = docx.Document(BytesIO(render(report(MIXED))))
    used = {style_of(paragraph) for paragraph in file.paragraphs} | {"Cell"}
    assert len(used) > 5
    for name in used:
        fonts = file.styles[name].element.find(f".//{qn('w:rFonts')}")
        assert fonts.get(qn("w:eastAsia")) == "Microsoft YaHei", name
        assert not [key for key in fonts.attrib if key.endswith("Theme")], name
    (language,) = file.styles.element.iter(qn("w:lang"))
    assert language.get(qn("w:eastAsia")) == "zh-CN"


def test_links_lead_to_the_web_or_to_a_mailbox_and_nothing_is_loaded() -> None:
    text = (
        "[a](https://a.example/x) [b](javascript:alert(1)) [c](file:///etc/passwd) "
        "[d](mailto:d@example.org) [e](//e.example) ![g](http://g.example/g.png)"
    )
    data = render(report(text, references=[reference(1)]))
    assert links_of(data) == {
        "hyperlink": ["https://a.example/x", "mailto:d@example.org", "https://docs.example/lamps/1"]
    }
    with ZipFile(BytesIO(data)) as file:
        assert not [name for name in file.namelist() if "media" in name or "embed" in name]


def test_a_citation_is_raised_and_leads_to_its_reference() -> None:
    data = render(report("A word [2], and [9]."))
    body = docx.Document(BytesIO(data)).element.body
    anchors = [link.get(qn("w:anchor")) for link in body.iter(qn("w:hyperlink"))]
    marks = [mark.get(qn("w:name")) for mark in body.iter(qn("w:bookmarkStart"))]
    assert [anchor for anchor in anchors if anchor] == ["ref_2"]
    assert marks == ["ref_1", "ref_2", "ref_3"]
    assert "A word[2], and [9]." in text_of_docx(data)


def test_hostile_words_everywhere_are_only_words() -> None:
    evil = reference(1, title=EVIL, uri=EVIL, quote=EVIL, told=EVIL)
    data = render(
        report(EVIL, title=EVIL, question=EVIL, notice=EVIL, facts=[EVIL], references=[evil])
    )
    for kind, targets in links_of(data).items():
        assert kind == "hyperlink"
        assert all(target.startswith("https://evil.test") for target in targets)
    assert text_of_docx(data).count("<script>alert(1)</script>") > 6
    with ZipFile(BytesIO(data)) as file:
        assert not re.search(rb"INCLUDE|DDE|w:object|w:altChunk", file.read("word/document.xml"))


def test_nobody_elses_name_stands_in_the_file() -> None:
    facts = docx.Document(BytesIO(render(report("x", title="灯塔")))).core_properties
    assert (facts.title, facts.author, facts.comments) == ("灯塔", "Soundings", "")


def test_what_was_not_finished_and_what_is_missing_is_told() -> None:
    begun = Section(title="Begun", text="Half a", finished=False)
    made = text_of_docx(render(report(sections=[begun], gaps=[reports.GAP])))
    for said in ("Half a", "This part was not finished.", "Who pays?", "Supported by the passage"):
        assert said in made
    empty = text_of_docx(render(report(sections=[], references=[], notice="It was cancelled.")))
    assert "It was cancelled." in empty and "No report was written." in empty
