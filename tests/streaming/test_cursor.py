"""Where a follower begins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.cursor import Start, resolve
from streaming.exceptions import BadCursor
from streaming.log import Head
from streaming.models import new_epoch

HEAD = Head("e7", 41, False)


@pytest.mark.parametrize(
    ("cursor", "start"),
    [
        ("start", Start(0)),
        ("tail", Start(41)),
        ("e7:0", Start(0)),
        ("e7:12", Start(12)),
        ("e7:41", Start(41)),
        ("e7:42", Start(41, "cursor_ahead")),
        ("e7:999999999999999999", Start(41, "cursor_ahead")),
        ("e8:12", Start(41, "epoch_changed")),
        ("e8:99", Start(41, "epoch_changed")),
    ],
)
def test_a_cursor_stands_for_a_place_or_for_a_gap(cursor: str, start: Start) -> None:
    assert resolve(cursor, HEAD) == start


@pytest.mark.parametrize(
    "cursor",
    [
        *("", "e7", "e7:", ":1", "7:1", "e7:-1", "e7:1 ", "e7:1\n", " e7:1", "E7:1", "e7:1:2"),
        *("e7:٣", "e7:1e3", "e7:" + "9" * 19, "e" + "7" * 99 + ":1", "Start", "\ud800", "e7:1\0"),
    ],
)
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(BadCursor) as refused:
        resolve(cursor, HEAD)
    refused.value.message.encode()


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_the_cursor_of_any_head_is_a_place_in_its_log(seq: int, further: int) -> None:
    epoch = new_epoch()
    cursor = Head(epoch, seq, False).cursor
    assert resolve(cursor, Head(epoch, seq + further, False)) == Start(seq)
    assert resolve(cursor, Head(new_epoch(), seq, False)).gap == "epoch_changed"
