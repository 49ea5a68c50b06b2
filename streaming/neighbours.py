"""Neighbours: hearing that another process wrote to the same SQLite file.

Processes on one machine without Redis have no channel layer in common. SQLite has a bell of its
own: `PRAGMA data_version` changes when any other connection has committed. It is asked on a
dedicated connection in autocommit, since inside an open transaction it stands still; it also rings
for this process's own connections, which costs one query for the heads of the watched runs.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from django.db import connection

logger = logging.getLogger(__name__)


class Neighbours:
    """Asks a SQLite file, a few times a second, whether somebody has written to it."""

    def __init__(self, path: Path, poll_s: float, heard: Callable[[], None]) -> None:
        self._path, self._poll_s, self._heard = path, poll_s, heard
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="neighbours", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def stop(self) -> None:
        """End; the connection is closed when this returns."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            file = sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True, isolation_level=None)
        except sqlite3.Error as error:
            logger.warning("other processes are heard at the tick only: %s", error)
            return
        try:
            before = _version(file)
            while not self._stopping.wait(self._poll_s):
                if (now := _version(file)) not in (None, before):
                    before = now
                    self._heard()
        finally:
            file.close()


def _version(file: sqlite3.Connection) -> int | None:
    try:
        return int(file.execute("PRAGMA data_version").fetchone()[0])
    except sqlite3.Error:  # busy; it is asked again soon
        return None


def neighbours(poll_s: float, heard: Callable[[], None]) -> Neighbours | None:
    """Return who listens for other processes; nobody where the database is not a file."""
    if connection.vendor != "sqlite":
        return None
    path = Path(connection.settings_dict["NAME"])
    return Neighbours(path, poll_s, heard) if path.is_file() else None
