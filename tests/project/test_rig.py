"""The rig itself: a test that thinks it runs on Postgres must do so."""

from __future__ import annotations

import os

import psycopg
import pytest
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import connection
from redis.asyncio import Redis

from tests.rig.backends import Postgres, Valkey
from tests.rig.server import Server

ON_SERVERS = os.environ.get("TEST_ON") == "servers"


@pytest.mark.both
@pytest.mark.django_db
def test_the_tests_run_on_what_they_say() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert connection.vendor == ("postgresql" if ON_SERVERS else "sqlite")
    assert ("RedisPubSub" in type(get_channel_layer()).__name__) is ON_SERVERS
    assert "soundings-test-" in settings.DATA_DIR.name


def test_a_postgres_keeps_its_data_over_a_restart() -> None:
    with Postgres() as postgres:
        url = postgres.create_database()
        with psycopg.connect(url, autocommit=True) as first:
            first.execute("CREATE TABLE kept (n int)")
        postgres.stop()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(url)
        postgres.start()
        with psycopg.connect(url) as second:
            assert second.execute("SELECT count(*) FROM kept").fetchone() == (0,)


async def test_a_valkey_comes_back_at_the_same_address() -> None:
    with Valkey() as valkey:
        url = valkey.url
        async with Redis.from_url(url) as client:
            assert await client.ping()
        valkey.stop()
        valkey.start()
        assert valkey.url == url
        async with Redis.from_url(url) as client:
            assert await client.ping()


def test_a_server_that_cannot_start_shows_its_log(tmp_path_factory: pytest.TempPathFactory) -> None:
    server = Server("daphne", tmp_path_factory.mktemp("server"), SECRET_KEY="short")
    with pytest.raises(AssertionError, match="SECRET_KEY can be guessed"):
        server.start()
