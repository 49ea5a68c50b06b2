"""Servers that are killed while a run is paused, and while what a person said waits to be heard."""

from __future__ import annotations

import asyncio

from tests.research.conftest import TOPIC

from .conftest import Open, Site
from .oracle import Oracle
from .test_kill import says
from .watcher import Event, Watcher


async def restart(site: Site) -> None:
    await asyncio.to_thread(site.server.kill)
    await asyncio.to_thread(site.server.start)


async def begun(site: Site) -> tuple[Watcher, Oracle]:
    """Start a run, and follow it until both tasks are being searched for."""
    watcher = Watcher(site.server, site.token)
    await watcher.start(TOPIC, "k")
    await watcher.until(says("task:1"))
    await watcher.until(says("task:2"))
    return watcher, Oracle(site.server, watcher.run)


def at_rest(log: list[Event]) -> bool:
    types = [event["type"] for event in log]
    return types.count("work.started") == types.count("work.finished")


async def command(watcher: Watcher, name: str, **fields: str) -> dict[str, object]:
    """Send a command as soon as the watcher is connected again."""
    for _ in range(100):
        if watcher._socket is not None:
            return await watcher.command(type=name, run=watcher.run, **fields)
        await asyncio.sleep(0.1)
    raise AssertionError("The watcher did not come back.")


async def test_a_paused_run_stays_paused_over_a_kill_and_pays_for_nothing_twice(
    site: Open,
) -> None:
    opened = await asyncio.to_thread(site)
    watcher, oracle = await begun(opened)
    await command(watcher, "pause", key="p")
    while not at_rest(oracle.log()):
        await asyncio.sleep(0.05)
    resting = oracle.log()
    await restart(opened)
    again = await command(watcher, "pause", key="p")
    assert again["duplicate"]
    await asyncio.sleep(1)
    assert oracle.log() == resting, "nothing goes on by itself"
    await command(watcher, "resume", key="r")
    assert await watcher.complete() == "completed"
    log = await asyncio.to_thread(oracle.check, watcher)
    assert not [event for event in log if event["type"] == "attempt.discarded"]
    assert set(opened.script.calls("started").values()) == {1}


async def test_a_steer_that_waits_is_heard_after_a_kill(site: Open) -> None:
    opened = await asyncio.to_thread(site, delay=0.2)
    watcher, oracle = await begun(opened)
    told = await command(watcher, "steer", text="Look at horns. 🔔", key="s")
    await asyncio.to_thread(opened.server.kill)
    assert not [event for event in oracle.log() if event["type"] == "input.heard"]
    await asyncio.to_thread(opened.server.start)
    again = await command(watcher, "steer", text="Look at horns. 🔔", key="s")
    assert (again["duplicate"], again["applied_seq"]) == (True, told["applied_seq"])
    assert await watcher.complete() == "completed"
    log = await asyncio.to_thread(oracle.check, watcher)
    said = [event for event in log if event["type"] == "input.received"]
    assert [event["data"]["text"] for event in said] == ["Look at horns. 🔔"]
    heard = {event["source_member"] for event in log if event["type"] == "input.heard"}
    assert heard == {"researcher-1", "researcher-2", "writer"}
    assert not [event for event in log if event["type"] == "team.interact_failed"]


async def test_a_kill_while_what_goes_on_is_being_stopped_leaves_no_run_without_its_report(
    site: Open,
) -> None:
    opened = await asyncio.to_thread(site)
    watcher, oracle = await begun(opened)
    await command(watcher, "finish", key="f")
    await restart(opened)
    assert await watcher.complete() == "completed"
    log = await asyncio.to_thread(oracle.check, watcher)
    assert log[-1]["data"]["partial"]
