"""Markdown: the text as it was written, with footnotes, and nothing that a reader would load."""

from __future__ import annotations

import mistune
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from research.report.document import Section
from research.report.markdown import escape, render
from tests.research.export.reports import GAP, MIXED, reference, report
from tests.research.hostile import EVIL, PAYLOADS

READER = mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "footnotes"])
"""A reader that trusts what it is given, as many do."""


def file_of(*args: object, **changes: object) -> str:
    return render(report(*args, **changes)).decode()  # type: ignore[arg-type]


def read(text: str) -> str:
    shown = READER(text)
    assert isinstance(shown, str)
    return shown


def test_the_text_is_as_it_was_written_and_citations_are_footnotes() -> None:
    text = file_of(MIXED)
    assert text.startswith("# Lighthouses\n\n*Nov. 30, 2026 · Completed*\n\n## In short\n\n")
    for number in (1, 2, 3):
        text = text.replace(f"[^{number}]", f"[{number}]")
    assert MIXED.strip() in text
    assert text.count("[3]") == 2  # where it is cited, and what it is


def test_a_reference_names_title_address_passage_and_verdict() -> None:
    lines = file_of("x [1]", references=[reference(1, title="A_b*c")]).splitlines()
    assert lines[-1] == (
        "[^1]: A\\_b\\*c. <https://docs.example/lamps/1> “A lamp behind a lens. 透镜。” "
        "— Supported by the passage. Read on Nov. 30, 2026."
    )


@pytest.mark.parametrize(
    "text", ["`[1]`", "```\n[1]\n```", "\\[1]", "[1](http://x.example)", "[9]"]
)
def test_what_is_no_citation_becomes_none(text: str) -> None:
    assert text in file_of(text)


def test_headings_in_a_section_stand_below_its_own() -> None:
    text = file_of("# One\n\n## Two\n\n### Three\n\n```\n# no heading\n```")
    assert "### One\n\n### Two\n\n### Three\n\n```\n# no heading" in text


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_reader_loads_or_runs_anything(payload: str) -> None:
    evil = reference(1, title=payload, uri=payload, quote=payload, told=payload)
    shown = read(
        file_of(payload, title=payload, notice=payload, question=payload, references=[evil])
    ).lower()
    for part in ("script", "img", "iframe", "form", "base", "style", "svg", "math", "meta"):
        assert f"<{part}" not in shown


PARTS = (
    *("`", "``", "```", "````", "~~~", "\n", "\n\n", "\n```\n", "    ", "  ", "\t", "> ", "- "),
    *("1. ", "# ", "\\", "|", "\n|-|-|\n", "*", "](u)", "[", "!", "<", "<!--", "-->", "text"),
    *("![a](https://evil.test/x)", "![a][r]", "\n[r]: /u\n", "<img src=x>", "<https://a", "[1]"),
)


@given(st.lists(st.sampled_from(PARTS), max_size=20).map("".join))
def test_what_only_some_readers_take_for_code_hides_no_picture_and_no_tag(text: str) -> None:
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = list(reader.parse(file_of(text)))
    while tokens:
        token = tokens.pop()
        assert token.type not in ("image", "html_block", "html_inline"), token.content
        tokens += token.children or []


@pytest.mark.parametrize(
    "code", ["`<b>` and ``![a](u) ` ``", "```html\n<b>![a](u) [1]\n```", "~~~\n`<b>\n~~~\nx"]
)
def test_code_is_left_as_it_is(code: str) -> None:
    assert code in file_of(code)


def test_a_fence_that_is_left_open_ends_with_its_section() -> None:
    text = file_of(sections=[Section("One", "```\nx"), Section("Two", "y")])
    assert "```\nx\n```\n\n## Two" in text


@given(st.text())
def test_what_is_escaped_is_read_as_it_was(text: str) -> None:
    shown = mistune.create_markdown(renderer=None)(f"x {escape(text)} x")
    assert isinstance(shown, list)
    (paragraph,) = shown
    assert {token["type"] for token in paragraph["children"]} == {"text"}
    said = "".join(token["raw"] for token in paragraph["children"])
    assert said.split() == f"x {text} x".split()


def test_hostile_words_change_no_line_that_is_ours() -> None:
    lines = file_of("x", title=EVIL, gaps=[GAP]).splitlines()
    assert [line for line in lines if line.startswith("## ")] == [
        "## In short",
        "## What this report does not answer",
        "## References",
    ]
    assert len([line for line in lines if line.startswith("# ")]) == 1


def test_what_was_not_finished_what_is_missing_and_an_empty_report_are_told() -> None:
    text = file_of(
        sections=[Section("Begun", "Half a", finished=False, note="1 was taken out.")], gaps=[GAP]
    )
    assert "Half a\n\n*This part was not finished.*\n\n*1 was taken out.*" in text
    assert "- Who pays? — Failed: No source says anything about it." in text
    empty = file_of(sections=[], references=[], notice="It was cancelled.", question="A\nB?")
    assert empty.endswith("> A\n> B?\n\n> **It was cancelled.**\n\nNo report was written.\n")
