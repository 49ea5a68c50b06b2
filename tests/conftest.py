"""The fixtures of all tests: servers to test against, and servers to test."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, async_playwright

from tests.rig import given
from tests.rig.backends import Postgres, Valkey
from tests.rig.server import Kind, Server

Serve = Callable[..., Server]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, on SQLite, what needs a server: the run on Postgres and Valkey has it."""
    if os.environ.get("TEST_ON") == "servers":
        return
    left_out = [item for item in items if item.get_closest_marker("servers")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A Postgres, shared by the session: make a database of your own in it."""
    with Postgres(given.DATABASE_URL) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_url(postgres: Postgres) -> str:
    return postgres.url


@pytest.fixture(scope="session")
def valkey() -> Iterator[Valkey]:
    """A Valkey, shared by the session: one that a test stops must be its own."""
    with Valkey(given.REDIS_URL) as server:
        yield server


@pytest.fixture(scope="session")
def valkey_url(valkey: Valkey) -> str:
    return valkey.url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with all tables, to be copied: migrating takes seconds, copying none."""
    server = Server("daphne", tmp_path_factory.mktemp("template"))
    server.manage("migrate", "-v", "0")
    return server.data_dir / "soundings.sqlite3"


@pytest.fixture(scope="session")
def postgres_template(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a Postgres database with all tables, to be copied."""
    url = postgres.create_database()
    server = Server("daphne", tmp_path_factory.mktemp("template"), database_url=url)
    server.manage("migrate", "-v", "0")
    return urlsplit(url).path[1:]


@pytest.fixture
def serve(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Serve]:
    """Start real servers: `serve("daphne")`, `serve("uvicorn", on="servers", PORT="8001")`.

    Each has its own data directory. `on="servers"` means a Postgres database of its own and the
    shared Valkey; `beside=server` means the same data, database and layer as another one.
    `start=False` leaves the start to the test. All of them end with the test.
    """
    servers: list[Server] = []

    def start_one(
        kind: Kind = "daphne",
        *,
        on: str = "sqlite",
        beside: Server | None = None,
        start: bool = True,
        **env: str,
    ) -> Server:
        if beside:
            urls = {name.lower(): beside.env[name] for name in ("DATABASE_URL", "REDIS_URL")}
            server = Server(kind, beside.data_dir, **urls, **env)
        else:
            directory = tmp_path / f"server-{len(servers)}"
            directory.mkdir()
            server = _with_tables(Server(kind, directory, **env), on, request)
        servers.append(server)
        if start:
            server.start()
        return server

    yield start_one
    for server in servers:
        server.close()


def _with_tables(server: Server, on: str, request: pytest.FixtureRequest) -> Server:
    if on == "sqlite":
        server.adopt(request.getfixturevalue("sqlite_template"))
    else:
        template: str = request.getfixturevalue("postgres_template")
        postgres: Postgres = request.getfixturevalue("postgres")
        server.env["DATABASE_URL"] = postgres.create_database(template)
        server.env["REDIS_URL"] = request.getfixturevalue("valkey_url")
    return server


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """A Chromium without a window."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    assert path, "The tests of the pages need Chromium: apt install chromium."
    options: dict[str, Any] = {"executable_path": path, "args": ["--no-sandbox"]}
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(**options)
        yield chromium
        await chromium.close()
