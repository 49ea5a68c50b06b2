"""`manage.py export`: a run as a file."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from research.errors import answer
from research.export import FORMATS, Exported, export
from research.sandbox import SandboxError
from research.terminal.language import SpeakingCommand
from streaming.exceptions import NotFound


class Command(SpeakingCommand):
    """Writes a run to a file or to the standard output."""

    about = gettext_lazy("Write a run to a file: Markdown, HTML, PDF, DOCX, or its log as JSON.")

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what, how and where to."""
        parser.add_argument("run", type=UUID, help=_("The id of the run."))
        parser.add_argument("--format", choices=list(FORMATS), default="md")
        parser.add_argument(
            "--output",
            metavar="FILE",
            help=_("Where to; “-” is the standard output. Else a file named after the question."),
        )
        parser.add_argument("--force", action="store_true", help=_("Replace a file that is there."))

    def handle(self, *args: Any, **options: Any) -> None:
        """Export the run."""
        try:
            made = export(options["run"], options["format"])
        except NotFound as error:
            raise CommandError(answer(error)) from None
        except SandboxError as error:
            raise CommandError(f"{error.message} ({error.code})") from None
        if options["output"] == "-":
            for chunk in made.chunks():
                sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
        else:
            self._write(made, Path(options["output"] or made.filename), options["force"])

    def _write(self, made: Exported, path: Path, force: bool) -> None:
        try:
            with path.open("wb" if force else "xb") as file:
                size = sum(file.write(chunk) for chunk in made.chunks())
        except FileExistsError:
            raise CommandError(_("%s is there already; --force replaces it.") % path) from None
        except OSError as error:
            raise CommandError(
                _("%(path)s cannot be written: %(why)s.") % {"path": path, "why": error.strerror}
            ) from None
        self.stderr.write(_("%(path)s: %(size)d bytes") % {"path": path, "size": size})
