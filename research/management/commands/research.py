"""`manage.py research TOPIC`: research something here, and watch it."""

from __future__ import annotations

import asyncio
import signal
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import ValidationError
from rich.console import Console
from rich.markdown import Markdown

from research.actions.runs import report_markdown
from research.engine.boot import House
from research.engine.work import cancel_run, start_run
from research.errors import answer
from research.export import FORMATS, export
from research.models import Run
from research.options import RunOptions
from research.sandbox import SandboxError
from research.terminal.command import USAGE, TerminalCommand, exit_code, raw
from research.terminal.lines import plain
from research.terminal.screen import Screen
from research.terminal.watching import Show, watch
from streaming.exceptions import StreamingError


class Command(TerminalCommand):
    """Starts a run, shows it, and prints its report. Beside a server, the server carries it."""

    about = gettext_lazy(
        "Research a topic: what happens goes to stderr, the report to stdout. Exit codes: "
        "0 completed, 1 failed, 2 not started, 3 completed with gaps, 4 cancelled."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the topic, who asks, where to look, and how it is shown."""
        super().add_arguments(parser)
        parser.add_argument("topic", help=_("The question."))
        parser.add_argument("--user", help=_("Who asks; the first user if none is named."))
        parser.add_argument(
            "--collection", action="append", help=_("A collection to search; may be repeated.")
        )
        parser.add_argument(
            "--source", action="append", help=_("A search provider to ask; may be repeated.")
        )
        parser.add_argument("--researchers", type=int, help=_("How many work side by side."))
        parser.add_argument(
            "--output",
            type=Path,
            help=_("Write the report to this file: .md, .html, .pdf, .docx or .json."),
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Research, and exit with how it ended."""
        user = _user(options["user"])
        chosen = {
            "collections": options["collection"],
            "sources": options["source"],
            "researchers": options["researchers"],
        }
        try:
            wanted = RunOptions(**{key: value for key, value in chosen.items() if value})
        except ValidationError as error:
            first = error.errors()[0]
            raise CommandError(f"{first['loc'][0]}: {first['msg']}", returncode=USAGE) from None
        with self.showing(options) as show:
            try:
                run_id = asyncio.run(_research(user, options["topic"], wanted, show))
            except StreamingError as error:
                raise CommandError(f"{answer(error)} ({error.code})", returncode=USAGE) from None
        code = exit_code(run_id)
        if not options["json"] or options["output"]:
            self._report(run_id, options["output"], options["json"])
        if code:
            raise SystemExit(code)

    def _report(self, run_id: UUID, path: Path | None, quiet: bool) -> None:
        if not report_markdown(Run.objects.get(pk=run_id)):
            return
        kind = path.suffix[1:].lower() if path else ""
        try:
            made = export(run_id, kind if kind in FORMATS else "md").data
        except SandboxError as error:
            raise CommandError(f"{error.message} ({error.code})") from None
        if path:
            path.write_bytes(made)
        elif self.stdout.isatty():
            lines = made.decode().split("\n")
            safe = (plain(line, 100_000) if line.strip() else "" for line in lines)
            Console(file=raw(self.stdout)).print(Markdown("\n".join(safe)))
        elif not quiet:
            self.stdout.write(made.decode())


async def _research(user: Any, topic: str, options: RunOptions, show: Show) -> UUID:
    """Carry a run from its start to its end, or let the server beside us do it."""
    house = House()
    await house.start()
    try:
        started = await house.runtime.readers.run(start_run, user, topic, options)
        run_id: UUID = started.run.pk
        if isinstance(show, Screen):
            place = f"{settings.PUBLIC_ORIGIN or f'http://{settings.HOST}:{settings.PORT}'}"
            show.say(f"{place}{reverse('run', args=[run_id])}")
        watching = asyncio.create_task(watch(house.runtime.hub, run_id, show))
        with _Interrupts(house, run_id, user, watching):
            await watching
        return run_id
    finally:
        await house.stop()


class _Interrupts:
    """Ctrl-C: the first cancels the run and waits for its end, the second leaves at once."""

    def __init__(self, house: House, run_id: UUID, user: Any, watching: asyncio.Task[str]) -> None:
        self._house, self._run_id, self._user, self._watching = house, run_id, user, watching
        self._cancelling: asyncio.Future[Any] | None = None

    def __enter__(self) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._heard)

    def __exit__(self, *error: object) -> None:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    def _heard(self) -> None:
        if self._cancelling is not None:
            self._watching.cancel()
            return
        cancel = self._house.runtime.readers.run(
            cancel_run, self._run_id, self._user.get_username()
        )
        self._cancelling = asyncio.ensure_future(cancel)


def _user(name: str | None) -> Any:
    """Return who asks."""
    users = get_user_model().objects.filter(is_active=True)
    if name is None:
        user = users.filter(is_superuser=True).order_by("pk").first()
        if user is None:
            raise CommandError(_("Name a user with --user: there is none yet."), returncode=USAGE)
        return user
    user = users.filter(**{get_user_model().USERNAME_FIELD: name}).first()
    if user is None:
        raise CommandError(_("There is no user %s.") % name, returncode=USAGE)
    return user
