"""Following a run from a command: the one loop, with a show at its end instead of a socket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from streaming.faces import Filter, View
from streaming.faces.lines import LinesFace
from streaming.flow import Throttle
from streaming.hub import Hub
from streaming.subscription import Complete, follow

RATE = 64 * 1024 * 1024  # bytes a second: a terminal is not kept waiting


class Show(Protocol):
    """What a person or a program sees of a run."""

    def events(self, texts: Sequence[str]) -> None:
        """Take the next events, as they are stored."""


async def watch(hub: Hub, run_id: UUID, show: Show, after: int = 0) -> str:
    """Show every event after `after` until the run has ended; return how it ended.

    Raises `NotFound` where there is no such run.
    """
    view = View("terminal", Filter())
    async with hub.watch(run_id) as feed:
        async for item in follow(feed, after, LinesFace(), view, Throttle(RATE, RATE)):
            if isinstance(item, Complete):
                return item.status
            if item.text:
                show.events(item.text.split("\n"))
    raise RuntimeError("The loop ended before the run did.")
