"""Log lines."""

import logging

from hypothesis import given
from hypothesis import strategies as st

from project.logs import LONGEST, OneLine


def line(message: str) -> str:
    return OneLine().format(logging.LogRecord("a", logging.INFO, "", 0, "%s", (message,), None))


@given(st.text())
def test_every_record_is_one_line_without_controls(message: str) -> None:
    text = line(message)
    assert len(text.splitlines()) == 1
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in text)


def test_what_was_escaped_can_still_be_read() -> None:
    assert line("a\r\nb\x1b[31m\u202e好").endswith(r"INFO a: a\r\nb\x1b[31m\u202e好")


def test_a_very_long_record_is_cut() -> None:
    assert len(line("x" * 1_000_000)) < LONGEST + 100
