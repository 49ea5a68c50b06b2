"""The language of a terminal, and commands that speak it."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import translation


class SpeakingCommand(BaseCommand):
    """Speaks the language of the terminal that it is called from; `about` is its help."""

    about: Any = ""

    def run_from_argv(self, argv: list[str]) -> None:
        """Carry it out in the language of the terminal, from its help to its errors."""
        with translation.override(language()):
            super().run_from_argv(argv)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Say what it is for."""
        self.help = str(self.about)
        return super().create_parser(prog_name, subcommand, **kwargs)


def language() -> str:
    """Return the language of this terminal, where we speak it."""
    said = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    named = said.partition(".")[0].partition("@")[0].replace("_", "-").lower()
    try:
        return translation.get_supported_language_variant(named)
    except LookupError:
        return translation.get_language() or "en"
