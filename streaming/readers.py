"""Readers: a small thread pool of our own for the queries of followers and commands.

`database_sync_to_async` shares one thread with everything else: a slow query anywhere would stop
every live stream for as long.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import connections

T = TypeVar("T")


class Readers:
    """Runs blocking functions that query the database."""

    def __init__(self, threads: int = 4) -> None:
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="reader")

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Return what the function returns, without blocking the loop."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, _with_fresh_connections, function, args)

    def stop(self) -> None:
        """Close the connection of each thread, and end the threads."""
        barrier = threading.Barrier(self._threads)
        for _ in range(self._threads):
            self._pool.submit(_close_connections, barrier)
        self._pool.shutdown(wait=True, cancel_futures=False)


def _with_fresh_connections(function: Callable[..., T], args: tuple[Any, ...]) -> T:
    for connection in connections.all(initialized_only=True):
        connection.close_if_unusable_or_obsolete()
    return function(*args)


def _close_connections(barrier: threading.Barrier) -> None:
    connections.close_all()
    barrier.wait(timeout=30)  # so that no thread takes two of these and another none
