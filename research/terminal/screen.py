"""Screens: what a terminal, or a program at the other end of a pipe, sees of a run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import IO, Self

from django.utils.translation import gettext as _
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from research.fold import fold
from research.state import RunState
from research.templatetags.research import activity, word
from streaming.events import decode

from .lines import fill, line_of, name_of, plain

BAR_WIDTH = 24


class Lines:
    """The events themselves, a line each, for programs."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def events(self, texts: Sequence[str]) -> None:
        """Write the events as they are stored."""
        for text in texts:
            self._out.write(text + "\n")
        self._out.flush()


class Screen:
    """The log in words; on a terminal with the team and how far it is below it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._state = RunState()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live = Live(
                console=self._console,
                get_renderable=self._below,
                refresh_per_second=4,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    def events(self, texts: Sequence[str]) -> None:
        """Fold the events, and print what is worth a line."""
        self._state = fold(self._state, texts)
        for text in texts:
            if line := line_of(self._state, decode(text)):
                self._console.print(line, soft_wrap=not self._console.is_terminal)

    def say(self, message: str) -> None:
        """Print a word of our own."""
        self._console.print(Text(plain(message), style="bold"))

    def _below(self) -> RenderableType:
        state, now = self._state, time.time() * 1000
        table = Table.grid(padding=(0, 1))
        for member in state.members.values():
            if member.activity and not state.run.ended:
                seconds = max(0, int((now - member.since) / 1000))
                doing = Text(plain(activity(member), 80), overflow="ellipsis", no_wrap=True)
                table.add_row(Text("●"), name_of(member), doing, Text(f"{seconds} s", "dim"))
        counts = state.counts()
        bar = Table.grid(padding=(0, 1))
        bar.add_row(
            Text(word(state.run.phase), "bold"),
            ProgressBar(max(1, counts["tasks"]), counts["tasks_ended"], width=BAR_WIDTH),
            Text(
                fill(
                    _("tasks %(tasks_ended)d/%(tasks)d · sources %(sources)d · notes %(notes)d"),
                    counts,
                )
            ),
        )
        return Group(table, bar)
