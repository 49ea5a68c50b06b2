"""Make everything ready for the first visitor; a second time, change nothing."""

from __future__ import annotations

import hashlib
import secrets
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from research.terminal.language import SpeakingCommand

DOCS = settings.BASE_DIR / "docs"
STAMP = "first_collections"


class Command(SpeakingCommand):
    """`manage.py first_run`: tables, a first user, and our own documentation to ask about."""

    about = gettext_lazy(
        "Make the tables, the first user and the first collections, where they are missing."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what is not done yet, and say where to sign in."""
        call_command("migrate", verbosity=0)
        self._add_documentation()
        signing_in = self._first_user()
        address = settings.PUBLIC_ORIGIN or f"http://{settings.HOST}:{settings.PORT}"
        self.stdout.write(f"\nSoundings: {address}/\n{signing_in}\n")

    def _first_user(self) -> str:
        users = get_user_model().objects
        name = settings.FIRST_USER
        if users.filter(username=name).exists():
            return _("Sign in as %s.") % name
        password = settings.FIRST_PASSWORD or secrets.token_urlsafe(12)
        users.create_superuser(username=name, password=password)
        if settings.FIRST_PASSWORD:
            return _("Sign in as %s, with the password in SOUNDINGS_PASSWORD.") % name
        said = _("Sign in as %(name)s with the password %(password)s (it is shown only now).")
        return said % {"name": name, "password": password}

    def _add_documentation(self) -> None:
        stamp = settings.DATA_DIR / STAMP
        state = _state(DOCS)
        if stamp.exists() and stamp.read_text() == state:
            return
        for name, paths in _collections().items():
            self.stdout.write(_("Adding the documentation to the library: %s") % name)
            for path in paths:
                call_command("library", "add", str(path), collection=name, stdout=StringIO())
        stamp.write_text(state)


def _collections() -> dict[str, list[Path]]:
    """Return what belongs into which collection: one of each language."""
    chinese = DOCS / "zh"
    english = [path for path in sorted(DOCS.iterdir()) if path != chinese and _is_read(path)]
    found = {"Soundings": english, "Soundings 中文": [chinese] if chinese.is_dir() else []}
    return {name: paths for name, paths in found.items() if paths}


def _is_read(path: Path) -> bool:
    return path.suffix == ".md" or (path.is_dir() and any(path.rglob("*.md")))


def _state(directory: Path) -> str:
    digest = hashlib.sha256()
    for page in sorted(directory.rglob("*.md")):
        digest.update(page.relative_to(directory).as_posix().encode() + b"\0")
        digest.update(page.read_bytes() + b"\0")
    return digest.hexdigest()
