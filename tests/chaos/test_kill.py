"""Servers that are killed and frozen in the middle of a run."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable

import pytest

from tests.conftest import Serve
from tests.research.conftest import TOPIC

from .conftest import Open, Site
from .oracle import Oracle, prompt_of
from .watcher import Event, Watcher


def says(work: str) -> Callable[[Event], bool]:
    """Tell whether a model speaks, or thinks, in a work."""
    kinds = ("message.delta", "reasoning.delta")
    return lambda event: event["type"] in kinds and event["work"] == work


def started_of_done(site: Site, oracle: Oracle) -> Counter[tuple[str, str, int]]:
    """Return how often each model call was begun that belongs to work which is done."""
    done, log = oracle.done(), oracle.log()
    prompts = {prompt_of(log, work) for work in done if not work.startswith(("write", "verify"))}
    written = sum(work.startswith("write") for work in done)
    writes = [call for call in site.script.calls("finished") if call[0] == "write"][:written]
    return Counter(
        {
            call: number
            for call, number in site.script.calls("started").items()
            if call[1] in prompts or call in writes
        }
    )


async def kill_at(site: Site, *works: str) -> list[Event]:
    """Kill the server while each of these works speaks, and see the run through to its end."""
    watcher = Watcher(site.server, site.token)
    await watcher.start(TOPIC, "k")
    oracle = Oracle(site.server, watcher.run)
    paid: Counter[tuple[str, str, int]] = Counter()
    for work in works:
        await watcher.until(says(work))
        await asyncio.to_thread(site.server.kill)
        before = oracle.log()
        paid |= started_of_done(site, oracle)
        await asyncio.to_thread(site.server.start)
    assert await watcher.complete() == "completed"
    log = await asyncio.to_thread(oracle.check, watcher)
    assert watcher.connections == len(works) + 1
    assert log[: len(before)] == before
    again = site.script.calls("started")
    assert paid
    assert {call: again[call] for call in paid} == paid, "what was done is done again"
    voided = {event["data"]["work"] for event in log if event["type"] == "attempt.discarded"}
    assert voided >= set(works)
    return log


async def test_a_run_goes_on_after_kills_while_it_is_planned_researched_and_written(
    site: Open,
) -> None:
    opened = await asyncio.to_thread(site)
    await kill_at(opened, "plan", "task:2", "write:2")
    begun = opened.script.rules_called("started")
    assert (begun["plan"], begun["write"]) == (2, 4)


async def test_a_run_on_uvicorn_goes_on_after_a_kill(site: Open) -> None:
    opened = await asyncio.to_thread(site, "uvicorn")
    await kill_at(opened, "task:1")
    assert opened.script.rules_called("started")["plan"] == 1


async def test_a_run_on_postgres_and_valkey_goes_on_after_a_kill(site: Open) -> None:
    opened = await asyncio.to_thread(site, on="servers")
    await kill_at(opened, "write:1")
    begun = opened.script.rules_called("started")
    assert (begun["plan"], begun["search"], begun["summary"], begun["write"]) == (1, 2, 2, 4)


async def test_the_second_server_of_a_machine_takes_over_from_the_first(
    site: Open, serve: Serve
) -> None:
    opened = await asyncio.to_thread(site)
    second = await asyncio.to_thread(
        serve, beside=opened.server, RESEARCH_MODEL=opened.script.model
    )
    watcher = Watcher(second, opened.token)
    await watcher.start(TOPIC, "k")
    oracle = Oracle(second, watcher.run)
    await watcher.until(says("task:1"))
    await asyncio.to_thread(opened.server.kill)
    paid = started_of_done(opened, oracle)
    assert await watcher.complete() == "completed"
    log = await asyncio.to_thread(oracle.check, watcher)
    assert watcher.connections == 1
    voided = {event["data"]["work"] for event in log if event["type"] == "attempt.discarded"}
    assert "task:1" in voided and "plan" not in voided
    again = opened.script.calls("started")
    assert {call: again[call] for call in paid} == paid != {}


async def test_a_cancel_that_a_kill_interrupts_is_finished(site: Open) -> None:
    opened = await asyncio.to_thread(site)
    watcher = Watcher(opened.server, opened.token)
    await watcher.start(TOPIC, "k")
    await watcher.until(says("task:1"))
    opened.server.signal(signal.SIGSTOP)
    cancel = asyncio.create_task(watcher.command(type="cancel", run=watcher.run))
    await asyncio.sleep(0.2)
    opened.server.signal(signal.SIGCONT)
    await watcher.until(lambda event: event["type"] == "run.cancelling")
    await asyncio.to_thread(opened.server.kill)
    cancel.cancel()
    await asyncio.to_thread(opened.server.start)
    assert await watcher.complete() == "cancelled"
    await asyncio.to_thread(Oracle(opened.server, watcher.run).check, watcher, status="cancelled")


pytestmark = pytest.mark.timeout(90)
