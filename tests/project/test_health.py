"""`/healthz` and `/readyz`."""

from __future__ import annotations

import asyncio
import time
from collections import namedtuple
from typing import Any

import pytest
from django.test import AsyncClient

from project import health
from research.engine import boot

Disk = namedtuple("Disk", "free")


@pytest.fixture
def everything_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boot, "is_ready", lambda: True)


async def ready(client: AsyncClient) -> tuple[int, str, list[str]]:
    response = await client.get("/readyz")
    body = response.json()
    down = [name for name, state in body["parts"].items() if state != "ok"]
    return response.status_code, body["status"], down


async def test_alive_is_answered_without_a_database(async_client: AsyncClient) -> None:
    # Without the `db` fixture any query would be an error.
    response = await async_client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("everything_works")
async def test_ready_is_answered_when_every_part_answers(async_client: AsyncClient) -> None:
    assert await ready(async_client) == (200, "ready", [])


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("everything_works")
async def test_an_engine_that_is_not_started_is_not_ready(
    async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boot, "is_ready", lambda: False)
    assert await ready(async_client) == (503, "unavailable", ["engine"])


@pytest.mark.usefixtures("everything_works")
async def test_a_database_that_fails_is_named_and_nothing_more_is_told(
    async_client: AsyncClient,
) -> None:
    # Without the `db` fixture the query is an error.
    response = await async_client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["parts"]["database"] == "down"
    assert set(response.json()) == {"status", "parts"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("everything_works")
async def test_a_part_that_hangs_is_down_after_a_second(
    async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang() -> bool:
        return await asyncio.Event().wait()

    monkeypatch.setitem(health.PARTS, "channel_layer", hang)
    began = time.monotonic()
    assert await ready(async_client) == (503, "degraded", ["channel_layer"])
    assert 0.9 < time.monotonic() - began < 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("everything_works")
async def test_a_full_disk_is_not_ready(
    async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Any) -> Disk:
        return Disk(free=0)

    monkeypatch.setattr("project.health.shutil.disk_usage", full)
    assert await ready(async_client) == (503, "unavailable", ["storage"])
