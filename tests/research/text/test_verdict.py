"""Whether a source says what a claim says."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.text.sentences import sentences
from research.text.verdict import classify

TEXT = (
    "Transactions are managed by the database. "
    "Django's default behavior is to run in autocommit mode. "
    "Each query is immediately committed to the database, unless a transaction is active. "
    "The save() method will not be called by bulk_create(), and 500 rows are sent in each batch. "
    "Memcached keys may not be longer than 250 characters. "
    "The reader can open the page when the writer has closed it, and PostgreSQL supports this."
)
ZH = "软件包是一个归档文件。它包含程序和说明。用户可以用 apt 安装 3 个软件包。"


def reason(claim: str, text: str = TEXT, start: int | None = None, end: int | None = None) -> str:
    return classify(claim, text, start, end).reason


@pytest.mark.parametrize("text", [TEXT, ZH])
def test_every_sentence_of_a_source_is_a_quote_found_at_its_place(text: str) -> None:
    for item in sentences(text):
        verdict = classify(text[item.start : item.end], text)
        assert (verdict.verdict, verdict.reason) == ("supported", "quote")
        assert verdict.start == item.start
        # the end mark may be left out
        assert verdict.end is not None
        assert 0 <= item.end - verdict.end <= 1


@settings(deadline=None)
@given(st.integers(0, len(TEXT) - 30), st.integers(20, 200))
def test_every_cut_of_a_source_is_a_quote_whose_offsets_give_it_back(start: int, size: int) -> None:
    claim = TEXT[start : start + size].strip(" .'")
    verdict = classify(claim, TEXT)
    assert verdict.reason == "quote"
    assert TEXT[verdict.start : verdict.end].strip(" .'") == claim


def test_quotation_marks_code_marks_list_marks_and_markers_do_not_matter() -> None:
    claim = "- The `save()` method  will not be called by **bulk_create()** [S3:1-9]"
    assert reason(claim) == "quote"


def test_a_quote_with_its_middle_cut_out_is_near() -> None:
    assert (
        reason("Each query is immediately committed ... unless a transaction is active.") == "near"
    )


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ("The save() method will not be called by bulk_create(), and 400 rows are sent.", "number"),
        ("Memcached keys may be longer than 250 characters.", "negation"),
        ("Each query is not immediately committed to the database.", "negation"),
        ("The save() method will not be called by bulk_update().", "name"),
        ("The reader can open the page when the writer has closed it, as Oracle supports.", "name"),
        ("Pilots board ships outside the harbour.", "unsupported"),
    ],
)
def test_a_changed_number_negation_or_name_is_not_found(claim: str, why: str) -> None:
    verdict = classify(claim, TEXT)
    assert (verdict.verdict, verdict.reason) == ("not_found", why)


def test_an_exchanged_word_is_only_partly_there() -> None:
    claim = (
        "The reader can open the page when the writer has deleted it, and PostgreSQL supports this."
    )
    assert classify(claim, TEXT).verdict == "partly"


def test_before_for_after_is_not_the_same() -> None:
    text = "The callback is called after the transaction is committed to the database."
    assert classify(text.replace("after", "before"), text).verdict == "partly"


def test_a_paraphrase_with_the_same_facts_is_supported() -> None:
    claim = "By default Django is in autocommit mode, its default way to run."
    assert classify(claim, TEXT).verdict == "supported"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("用户可以用 apt 安装 3 个软件包。", "supported"),
        ("用户不可以用 apt 安装 3 个软件包。", "not_found"),
        ("用户可以用 apt 安装 4 个软件包。", "not_found"),
        ("用户可以用 dpkg_x 安装 3 个软件包。", "not_found"),
    ],
)
def test_chinese_claims_are_judged_alike(claim: str, verdict: str) -> None:
    assert classify(claim, ZH).verdict == verdict


def test_a_claim_is_held_against_the_span_that_it_names() -> None:
    at = TEXT.index("Memcached")
    elsewhere = classify("Each query is rolled back at the end.", TEXT, at, at + 52)
    assert elsewhere.verdict == "not_found"
    assert (elsewhere.start, elsewhere.end) == (at, at + 52)


def test_without_a_span_the_best_part_is_named() -> None:
    verdict = classify("Memcached keys may not be longer than 250 letters.", TEXT)
    assert verdict.start is not None
    assert "Memcached" in TEXT[verdict.start : verdict.end]
    assert "transaction" not in TEXT[verdict.start : verdict.end]


@pytest.mark.parametrize("start, end", [(5, 2), (-1, 4), (0, 10**9)])
def test_a_span_outside_the_text_is_none(start: int, end: int) -> None:
    assert reason("Transactions are managed by the database.", TEXT, start, end) == "quote"


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=200))
def test_every_claim_gets_a_verdict_with_offsets_inside_the_text(claim: str, text: str) -> None:
    verdict = classify(claim, text)
    assert (verdict.start is None) == (verdict.end is None)
    if verdict.start is not None and verdict.end is not None:
        assert 0 <= verdict.start < verdict.end <= len(text)


def test_a_source_of_five_megabytes_is_judged_in_seconds() -> None:
    words = [f"word{random.Random(n).randrange(9999)}" for n in range(700_000)]
    text = " ".join(words) + " The needle is in the haystack."
    started = time.monotonic()
    assert reason("The needle is in the haystack.", text) == "quote"
    assert reason("The needle is in word17 and in word18 and nowhere.", text) != "quote"
    assert time.monotonic() - started < 5
