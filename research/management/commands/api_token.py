"""`manage.py api_token USER`: a token for API clients, printed once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from research.access import new_token


class Command(BaseCommand):
    """Makes a token."""

    help = "Make an API token for a user, and print it. Only its hash is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the user's name, and a name for the token."""
        parser.add_argument("username")
        parser.add_argument("--name", default="", help="What the token is for.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the token and print it."""
        user = get_user_model().objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['username']}.")
        self.stdout.write(new_token(user, options["name"]))
