"""HTML: one file that shows everything, loads nothing and runs nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import html as lxml_html
from playwright.async_api import Browser

from research.report.document import Section
from research.report.html import render
from tests.research.export.reports import (
    GAP,
    MIXED,
    MIXED_SAYS,
    reference,
    report,
    squashed,
)
from tests.research.hostile import EVIL, PAYLOADS

OURS = {
    *("html", "head", "body", "meta", "title", "style", "main", "header", "section"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "a", "q", "span", "sup", "br"),
    *("strong", "em", "del", "code", "pre", "blockquote", "hr"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


def hostile() -> bytes:
    """A report in which everything is an attack."""
    evil = [
        reference(number, title=EVIL, uri=uri, quote=EVIL, told=EVIL, dates=EVIL)
        for number, uri in enumerate(("javascript:alert(1)", "//evil.test/x", EVIL), 1)
    ]
    made = report(
        f"word [1] {EVIL}\n\n" + "\n\n".join(PAYLOADS),
        title=EVIL,
        question=EVIL,
        notice=EVIL,
        facts=[EVIL],
        gaps=[GAP, type(GAP)(EVIL, EVIL)],
        references=evil,
    )
    return render(made)


def test_the_text_of_a_mixed_report_is_as_it_was_written() -> None:
    root = lxml_html.document_fromstring(render(report(MIXED)).decode())
    shown = root.xpath("string(//section[1])").removeprefix("In short")
    assert squashed(shown) == squashed(MIXED_SAYS)


def test_a_citation_leads_to_its_reference() -> None:
    root = lxml_html.document_fromstring(render(report("word [2], and [9]")).decode())
    (link,) = root.xpath("//sup/a")
    (target,) = root.xpath(f"//*[@id='{link.get('href')[1:]}']")
    assert link.text == "[2]" and target.get("value") == "2"
    for said in ("Lamps 2", "A lamp behind a lens. 透镜。", "Supported by the passage", "Read on"):
        assert said in target.text_content()
    assert "and [9]" in root.xpath("string(//section[1])")


def test_the_file_needs_nothing_from_outside() -> None:
    text = hostile().decode()
    root = lxml_html.document_fromstring(text)
    for element in root.iter():
        assert element.tag in OURS, element.tag
        for name, value in element.attrib.items():
            assert name not in ("src", "srcset", "style", "action", "background"), name
            assert not name.startswith("on")
            if name == "href":
                assert element.tag == "a"
                assert value.startswith(("#ref-", "https://", "http://", "mailto:")), value
    (style,) = root.xpath("//style")
    assert not re.search(r"url\(|@import|expression", style.text)
    (policy,) = root.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


@pytest.mark.browser
async def test_a_browser_that_opens_hostile_words_asks_nobody_and_runs_nothing(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    file.write_bytes(hostile())
    page = await browser.new_page()
    asked: list[str] = []
    trouble: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    await page.goto(file.as_uri())
    await page.click("sup a")
    await page.hover(".references li:first-child")
    size = await page.evaluate("getComputedStyle(document.querySelector('h1')).fontSize")
    await page.close()
    assert asked == [file.as_uri()]
    assert trouble == []
    assert float(size.removesuffix("px")) > 24  # our own style is allowed


def test_what_was_not_finished_what_is_missing_and_an_empty_report_are_told() -> None:
    begun = Section("Begun", "Half a", finished=False, note="1 reference was taken out.")
    text = render(report(sections=[begun], gaps=[GAP])).decode()
    for said in (
        "Half a",
        "This part was not finished.",
        "1 reference was taken out.",
        "Who pays?",
    ):
        assert said in text
    empty = render(report(sections=[], references=[], notice="It was cancelled.")).decode()
    assert "No report was written." in empty and "It was cancelled." in empty
