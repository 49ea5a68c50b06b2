"""`manage.py watch RUN`: watch a run that is carried elsewhere, or again one that has ended."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from research.models import Run
from research.terminal.command import USAGE, TerminalCommand, exit_code
from research.terminal.watching import Show, watch
from streaming.runtime import Runtime

SHORTEST = 4


class Command(TerminalCommand):
    """Shows a run from its first event on. Leaving does nothing to the run."""

    about = gettext_lazy(
        "Watch a run until it ends. Exit codes: 0 completed, 1 failed, 2 no such run, "
        "3 completed with gaps, 4 cancelled, 130 left before its end."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare which run, and from where on."""
        super().add_arguments(parser)
        parser.add_argument(
            "run", nargs="?", help=_("Its id, or how it begins; the newest run if none is given.")
        )
        parser.add_argument(
            "--after",
            type=int,
            default=0,
            metavar="SEQ",
            help=_("Only what came after this event."),
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Watch, and exit with how it ended."""
        run = _run(options["run"])
        if not 0 <= options["after"] <= run.stream.head:
            raise CommandError(
                _("The log has %d events; --after is one of them.") % run.stream.head,
                returncode=USAGE,
            )
        with self.showing(options) as show, suppress(KeyboardInterrupt):
            asyncio.run(_watch(run.pk, show, options["after"]))
        run.refresh_from_db()
        if code := exit_code(run.pk) if run.ended else 130:
            raise SystemExit(code)


async def _watch(run_id: UUID, show: Show, after: int) -> None:
    """Follow a run without an engine: whoever carries it goes on doing so."""
    runtime = Runtime()
    await runtime.start()
    try:
        await watch(runtime.hub, run_id, show, after)
    finally:
        await runtime.stop()


def _run(name: str | None) -> Run:
    """Return the run that is meant."""
    runs = Run.objects.select_related("stream").order_by("-created_at")
    if name is None:
        newest = runs.first()
        if newest is None:
            raise CommandError(_("There is no run yet."), returncode=USAGE)
        return newest
    signs = name.lower().replace("-", "")
    if len(signs) < SHORTEST or not set(signs) <= set("0123456789abcdef"):
        raise CommandError(_("%s is not the id of a run.") % name, returncode=USAGE)
    if len(signs) == 32:
        found = list(runs.filter(pk=UUID(signs)))
    else:
        first, last = (UUID(signs.ljust(32, fill)) for fill in "0f")
        found = list(runs.filter(pk__gte=first, pk__lte=last)[:2])
    if len(found) != 1:
        many = _("Several runs begin with %s.") if found else _("No run begins with %s.")
        raise CommandError(many % name, returncode=USAGE)
    return found[0]
