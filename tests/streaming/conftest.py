"""The fixtures of the stream's tests: the machinery, started and stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from channels.layers import channel_layers

from streaming.runtime import Runtime

from . import world

StartRuntime = Callable[..., Awaitable[Runtime]]

OURS = {
    "ACCESS": "tests.streaming.world.may_watch",
    "AUTHENTICATE": "tests.streaming.world.user_of_token",
    "STILL_IN": "tests.streaming.world.still_in",
    "STILL_VISIBLE": "tests.streaming.world.still_visible",
    "FOLD": "tests.streaming.world.fold",
}


@pytest.fixture(autouse=True)
def small_world(settings: Any) -> Iterator[None]:
    """Put the small application in the place of research."""
    settings.STREAMING = OURS
    yield
    world.HIDDEN.clear()
    world.TOKENS.clear()
    world.OUT.clear()


@pytest.fixture
async def start_without_database(settings: Any) -> AsyncIterator[StartRuntime]:
    """Start runtimes that query nothing, for tests in which nothing is stored."""
    channel_layers.backends.clear()  # a layer belongs to the loop of one test
    started: list[Runtime] = []

    async def start(**given: Any) -> Runtime:
        settings.STREAMING = OURS | given
        runtime = Runtime()
        await runtime.start()
        started.append(runtime)
        return runtime

    yield start
    for runtime in reversed(started):
        await runtime.stop()
    for layer in channel_layers.backends.values():
        if hasattr(layer, "close_pools"):
            await layer.close_pools()
        elif hasattr(layer, "flush"):
            await layer.flush()
    channel_layers.backends.clear()


@pytest.fixture
def start_runtime(transactional_db: None, start_without_database: StartRuntime) -> StartRuntime:
    """Start runtimes, with settings of the test's own: `await start_runtime(MERGE_MS=0)`.

    Their threads and connections are gone before the database is flushed.
    """
    return start_without_database


@pytest.fixture
async def runtime(start_runtime: StartRuntime) -> Runtime:
    return await start_runtime()
