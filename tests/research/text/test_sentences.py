"""Sentences and their offsets."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.text.sentences import sentences


def said(text: str) -> list[str]:
    return [text[item.start : item.end] for item in sentences(text)]


def test_sentences_end_with_their_mark() -> None:
    assert said("One is here. Two is not! Is three?") == [
        "One is here.",
        "Two is not!",
        "Is three?",
    ]


def test_chinese_sentences_need_no_blank_between_them() -> None:
    assert said("包是文件。它很好！真的？") == ["包是文件。", "它很好！", "真的？"]


@pytest.mark.parametrize(
    "text",
    [
        "Use a cache, e.g. Redis, for it.",
        "It was written by J. Smith in time.",
        "The save() method of django.db.models.Model saves.",
        "Version 5.2 is out.",
        "See Fig. 3 for more.",
    ],
)
def test_a_dot_inside_a_sentence_does_not_end_it(text: str) -> None:
    assert said(text) == [text]


def test_a_sentence_may_start_with_an_identifier() -> None:
    text = "It is fast. select_related follows keys."
    assert said(text) == ["It is fast.", "select_related follows keys."]


def test_a_line_end_ends_a_sentence_and_a_bullet_is_left_out() -> None:
    assert said("- first item\n- second item") == ["first item", "second item"]


def test_each_sentence_knows_its_line_and_whether_it_opens_it() -> None:
    places = [(item.line, item.first) for item in sentences("A is. B is.\n\nC is.")]
    assert places == [(0, True), (0, False), (1, True)]


def test_a_very_long_chinese_sentence_is_cut_at_a_semicolon() -> None:
    text = "甲" * 150 + "；" + "乙" * 150 + "。"
    assert len(said(text)) == 2


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from('Ab1.!? \n。！；;-("”e.g,'), max_size=200))
def test_every_sentence_is_trimmed_in_order_and_nothing_else_is_lost(text: str) -> None:
    found = sentences(text)
    assert all(text[item.start : item.end].strip() == text[item.start : item.end] for item in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    kept = "".join(said(text))
    bare = "".join(text.split())
    assert len("".join(kept.split())) <= len(bare)
    assert set(kept) <= set(text)


@pytest.mark.parametrize("piece", [".", ".)", "e.g. ", "。", "; ", "a.b", "- ", "\n"])
def test_the_time_grows_no_faster_than_the_text(piece: str) -> None:
    started = time.monotonic()
    sentences(piece * 100_000)
    assert time.monotonic() - started < 20
