"""Several clients on one run, on real servers: each sees all of it, and strangers nothing."""

from __future__ import annotations

import asyncio
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.research.conftest import TOPIC
from tests.research.scripts import Script, rules
from tests.rig.server import Server

from .conftest import Open, Site
from .oracle import Oracle
from .watcher import Refused, Watcher

pytestmark = pytest.mark.timeout(90)


@pytest.fixture(scope="module")
def opened(
    filled: tuple[Path, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """One server for the tests that leave it as it was."""
    script = Script(tmp_path_factory.mktemp("script"))
    script.play(rules(0.02))
    data, tokens = filled
    server = Server("daphne", tmp_path_factory.mktemp("watched"), RESEARCH_MODEL=script.model)
    shutil.copytree(data, server.data_dir, dirs_exist_ok=True)
    server.start()
    yield Site(server, script, tokens[0], tokens[1])
    server.close()


async def test_two_watchers_a_late_one_and_one_that_comes_after_see_the_same(opened: Site) -> None:
    starter = Watcher(opened.server, opened.token)
    ack = await starter.start(TOPIC, "k1")
    assert (ack["duplicate"], ack["run"]) == (False, starter.run)
    second = Watcher(opened.server, opened.token, starter.run)
    await second.follow()
    await starter.until(lambda event: event["type"] == "source.found")
    late = Watcher(opened.server, opened.token, starter.run)
    await late.follow()
    again = Watcher(opened.server, opened.token)
    assert (await again.start(TOPIC, "k1"))["duplicate"]
    watchers = [starter, second, late, again]
    assert [await watcher.complete() for watcher in watchers] == ["completed"] * 4
    after = Watcher(opened.server, opened.token, starter.run)
    await after.follow()
    await after.complete(5)
    log = await asyncio.to_thread(
        Oracle(opened.server, starter.run).check, starter, second, late, again, after
    )
    assert {watcher.run for watcher in watchers} == {starter.run}
    assert len(log) > 100
    assert "Traceback" not in opened.server.log()


async def test_events_come_as_they_happen(opened: Site) -> None:
    watcher = Watcher(opened.server, opened.token)
    await watcher.start(TOPIC, "k2")
    lags = []
    for work in ("plan", "task:1", "task:2", "write:1", "write:2", "verify"):
        event = await watcher.until(
            lambda event, work=work: event["type"] == "work.started" and event["work"] == work  # type: ignore[misc]
        )
        lags.append(time.time() - event["ts"] / 1000)
    await watcher.complete()
    assert sorted(lags)[len(lags) // 2] < 0.5, lags


async def test_a_stranger_sees_no_run_and_cancels_none(opened: Site) -> None:
    watcher = Watcher(opened.server, opened.token)
    await watcher.start(TOPIC, "k3")
    stranger = Watcher(opened.server, opened.stranger)
    await stranger.start("Another question", "k")
    assert stranger.run != watcher.run
    for target in (watcher.run, str(uuid4())):
        for command in ("subscribe", "cancel"):
            with pytest.raises(Refused, match="not_found"):
                await stranger.command(type=command, run=target, sub="x")
        blind = Watcher(opened.server, opened.stranger, target)
        with pytest.raises(Refused, match="not_found"):
            await blind.follow()
        await blind.close()
    assert await watcher.complete() == await stranger.complete() == "completed"
    check = Oracle(opened.server, watcher.run).check
    log = await asyncio.to_thread(check, watcher)
    assert not {event["type"] for event in log} & {"run.cancelling"}
    await asyncio.to_thread(Oracle(opened.server, stranger.run).check, stranger)


async def test_a_client_that_goes_away_does_not_end_its_run(opened: Site) -> None:
    watcher = Watcher(opened.server, opened.token)
    await watcher.start(TOPIC, "k4")
    await watcher.until(lambda event: event["type"] == "work.started")
    await watcher.close()
    later = Watcher(opened.server, opened.token, watcher.run)
    await later.follow()
    assert await later.complete() == "completed"
    log = await asyncio.to_thread(Oracle(opened.server, watcher.run).check, later)
    assert log[: len(watcher.events)] == watcher.events


async def test_a_frozen_server_goes_on_where_it_was(opened: Site) -> None:
    watcher = Watcher(opened.server, opened.token)
    await watcher.start(TOPIC, "k9")
    await watcher.until(lambda event: event["type"] == "message.delta")
    opened.server.signal(signal.SIGSTOP)
    await asyncio.sleep(3)
    opened.server.signal(signal.SIGCONT)
    assert await watcher.complete() == "completed"
    log = await asyncio.to_thread(Oracle(opened.server, watcher.run).check, watcher)
    assert "attempt.discarded" not in {event["type"] for event in log}
    works = [event["work"] for event in log if event["type"] == "work.started"]
    assert len(works) == len(set(works)), "nothing was begun twice"


async def test_a_cancel_ends_the_run_in_two_seconds_for_everybody(opened: Site) -> None:
    await cancel(opened)


async def test_so_does_a_cancel_on_uvicorn_postgres_and_valkey(site: Open) -> None:
    await cancel(await asyncio.to_thread(site, "uvicorn", on="servers"))


async def cancel(opened: Site) -> None:
    """Cancel a run that two watch, and see it end for both."""
    watcher = Watcher(opened.server, opened.token)
    await watcher.start(TOPIC, "to be cancelled")
    other = Watcher(opened.server, opened.token, watcher.run)
    await other.follow()
    await watcher.until(lambda event: event["type"] == "message.delta")
    asked = time.monotonic()
    answer = await watcher.command(type="cancel", run=watcher.run)
    assert await watcher.complete() == await other.complete() == "cancelled"
    assert time.monotonic() - asked < 2
    log = await asyncio.to_thread(
        Oracle(opened.server, watcher.run).check, watcher, other, status="cancelled"
    )
    assert log[answer["applied_seq"] - 1]["type"] == "run.cancelling"
    before = opened.script.calls("started")
    await asyncio.sleep(0.5)
    assert opened.script.calls("started") == before, "the paid work has stopped"
