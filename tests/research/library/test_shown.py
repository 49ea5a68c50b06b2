"""A document's text, a part at a time: nothing is lost, and what is marked is in its part."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.library import shown
from research.library.page import PAGE_LEVEL, TERM_LEVEL, Draft, Page

WORDS = st.lists(
    st.sampled_from(["灯塔", "lamp", "a long line of words", "x"]), min_size=1, max_size=30
)


@pytest.fixture(autouse=True, scope="module")
def small_parts() -> object:
    patch = pytest.MonkeyPatch()
    patch.setattr(shown, "PART", 300)
    patch.setattr(shown, "_SLACK", 250)
    yield
    patch.undo()


def page_of(parts: list[tuple[int, list[str]]]) -> Page:
    draft = Draft()
    for level, words in parts:
        if level:
            draft.heading(level, " ".join(words))
        else:
            draft.block("prose", " ".join(words))
    return draft.page("a.md")


PAGES = st.builds(
    page_of, st.lists(st.tuples(st.sampled_from([0, 0, 1, 2, 3, TERM_LEVEL, PAGE_LEVEL]), WORDS))
)


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(PAGES, st.data())
def test_the_parts_say_the_whole_text_and_mark_what_is_meant(
    page: Page, data: st.DataObject
) -> None:
    outline = [(h.level, h.start, h.end) for h in page.outline]
    starts = shown.parts_of(page.text)
    ends = [*starts[1:], len(page.text)]
    said = marked = ""
    start, end = data.draw(st.sampled_from([(b.start, b.end) for b in page.blocks] or [(0, 0)]))
    for a, b in zip(starts, ends, strict=True):
        for piece in shown.pieces(page.text, outline, a, b, (start, end)):
            said += piece.text
            marked += piece.text if piece.kind == "mark" else ""
    assert squeezed(said) == squeezed(page.text)
    assert squeezed(marked) == squeezed(page.text[start:end])
    assert 1 <= shown.part_at(starts, start) <= len(starts)


@given(PAGES)
def test_every_line_of_the_contents_leads_to_a_part_that_holds_it(page: Page) -> None:
    outline = [(h.level, h.start, h.end) for h in page.outline]
    starts = shown.parts_of(page.text)
    ends = [*starts[1:], len(page.text)]
    for entry in shown.contents(page.text, outline, starts):
        a, b = starts[entry.part - 1], ends[entry.part - 1]
        anchors = {piece.anchor for piece in shown.pieces(page.text, outline, a, b, None)}
        assert entry.anchor in anchors
