"""Errors in words: a sentence and what to do next, for every code that a person may meet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from research import errors
from research.llm.errors import CODES as MODEL_CODES
from research.sandbox.limits import SandboxCode
from research.web.errors import WebCode

PROTOCOL = (Path(__file__).resolve().parents[2] / "docs" / "protocol.md").read_text()
OF_PEOPLE = {
    "empty_note", "empty_text", "empty_topic", "key_reused", "no_collection", "no_member",
    "no_provider", "no_task", "not_failed", "not_paused", "not_running", "note_changed",
    "still_running", "too_late", "too_many_notes", "too_many_steers",
}  # fmt: skip
OF_RUNS = PROTOCOL.partition("A run that failed has a code too:")[2].split("\n\n")[0]


def test_a_code_that_is_not_known_has_no_words() -> None:
    assert errors.told("never_heard_of") is errors.told(None) is errors.told("") is None


@pytest.mark.parametrize("code", sorted(errors.CODES))
def test_an_error_is_a_sentence_and_says_what_happens_next(code: str) -> None:
    told = errors.CODES[code]
    for text in filter(None, (str(told.says), str(told.next))):
        assert text[0].isupper() and text.endswith(".")
    assert told.next or code in OF_PEOPLE  # who asked sees for themselves what they may do


def test_every_way_in_which_a_run_may_fail_has_words() -> None:
    codes = set(re.findall(r"`([a-z_]+)`", OF_RUNS))
    assert len(codes) > 10
    assert codes - set(errors.CODES) == set()
    assert {code for _, code, _ in MODEL_CODES} - set(errors.CODES) == set()


@pytest.mark.parametrize("codes", [WebCode, SandboxCode], ids=["web", "sandbox"])
def test_every_way_in_which_a_page_may_not_be_read_has_words(codes: object) -> None:
    assert set(get_args(codes)) - set(errors.CODES) == set()
