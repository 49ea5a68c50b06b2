"""Real servers with something to find, and a script for their models."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Serve
from tests.research.conftest import PAGES
from tests.research.scripts import Script, rules
from tests.rig.server import Server

PREPARE = """
from django.contrib.auth.models import User
from research.access import new_token
from research.library.add import add_path
ann, bob = (User.objects.create_user(name, password="a-long-password") for name in ("ann", "bob"))
add_path({folder!r}, "lighthouses", ann)
print(new_token(ann), new_token(bob))
"""


@dataclass(frozen=True)
class Site:
    """A server, the script that its models play, and the tokens of two users."""

    server: Server
    script: Script
    token: str
    stranger: str


Open = Callable[..., Site]


def prepare(server: Server, folder: Path) -> list[str]:
    """Fill a site, and return the tokens of its users."""
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    code = PREPARE.format(folder=str(folder))
    return server.manage("shell", "--no-imports", "-v", "0", "-c", code).split()


@pytest.fixture(scope="session")
def filled(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str]]:
    """A data directory with users and documents, to be copied, and its tokens."""
    server = Server("daphne", tmp_path_factory.mktemp("filled"))
    server.adopt(sqlite_template)
    tokens = prepare(server, tmp_path_factory.mktemp("pages") / "pages")
    return server.data_dir, tokens


@pytest.fixture
def site(serve: Serve, tmp_path: Path, request: pytest.FixtureRequest) -> Open:
    """Open a site: `site("uvicorn", delay=0.1, PORT=…)`; its models play `script.rules(delay)`."""

    def open_site(
        kind: str = "daphne", *, delay: float = 0.05, on: str = "sqlite", **env: Any
    ) -> Site:
        script = Script(tmp_path / "script")
        script.play(rules(delay))
        env = {"RESEARCH_MODEL": script.model} | env
        server = serve(kind, on=on, start=False, **env)
        if on == "sqlite":
            data_dir, tokens = request.getfixturevalue("filled")
            shutil.copytree(data_dir, server.data_dir, dirs_exist_ok=True)
        else:
            tokens = prepare(server, tmp_path / "pages")
        server.start()
        return Site(server, script, tokens[0], tokens[1])

    return open_site
