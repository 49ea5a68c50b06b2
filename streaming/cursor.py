"""Cursor: `epoch:seq`, one string on every wire."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from .exceptions import BadCursor
from .log import Head

FORM = re.compile(r"(e[0-9a-z]{1,15}):(\d{1,18})", re.ASCII)

GapReason = Literal["epoch_changed", "cursor_ahead"]


@dataclass(frozen=True, slots=True)
class Start:
    """Where a follower begins: what it has, or why that is not a place in this log."""

    after: int
    gap: GapReason | None = None


def resolve(cursor: str, head: Head) -> Start:
    """Return where a cursor (`start`, `tail`, or `epoch:seq`) stands in a log; else `BadCursor`."""
    if cursor == "start":
        return Start(0)
    if cursor == "tail":
        return Start(head.seq)
    found = FORM.fullmatch(cursor)
    if not found:
        raise BadCursor(f"{cursor[:40]!r} is not a cursor.")
    epoch, seq = found[1], int(found[2])
    if epoch != head.epoch:
        return Start(head.seq, "epoch_changed")
    if seq > head.seq:
        return Start(head.seq, "cursor_ahead")
    return Start(seq)
