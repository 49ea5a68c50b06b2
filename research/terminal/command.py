"""What the commands that show a run have in common: where it is shown, and how they end."""

from __future__ import annotations

import logging
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any
from uuid import UUID

from django.core.management.base import OutputWrapper
from django.utils import translation
from django.utils.translation import gettext as _
from rich.console import Console

from research.models import Run
from streaming import log
from streaming.events import decode

from .language import SpeakingCommand, language
from .screen import Lines, Screen
from .watching import Show

EXIT_CODES = {"completed": 0, "failed": 1, "cancelled": 4}
USAGE, GAPS = 2, 3


class TerminalCommand(SpeakingCommand):
    """Shows a run; its exit code tells how the run ended."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare how it is shown."""
        parser.add_argument(
            "--json", action="store_true", help=_("Print the events as JSON, a line each.")
        )

    @contextmanager
    def showing(self, options: dict[str, Any]) -> Iterator[Show]:
        """Give the show: events on stdout for programs, or what happens on stderr for people."""
        if options["verbosity"] < 2:
            logging.getLogger().setLevel(logging.WARNING)  # what happens is told by the show
        with translation.override(language()):
            if options["json"]:
                yield Lines(raw(self.stdout))
            else:
                console = Console(
                    file=raw(self.stderr), highlight=False, no_color=options["no_color"] or None
                )
                with Screen(console) as screen:
                    yield screen


def raw(wrapped: OutputWrapper) -> IO[str]:
    """Return the stream in Django's wrapper, which ends every write with a line end."""
    stream: Any = wrapped._out
    out: IO[str] = stream
    return out


def exit_code(run_id: UUID) -> int:
    """Return what an ended run's command exits with. Blocking."""
    run = Run.objects.select_related("stream").get(pk=run_id)
    if run.status == "completed":
        (last,) = log.read_after(run_id, run.stream.head - 1)
        return GAPS if decode(last.text).data.get("partial") else 0
    return EXIT_CODES[run.status]
