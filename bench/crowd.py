"""Crowd: ten runs at once, twenty pages open on each, and a person who goes from page to page."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import httpx
from websockets.asyncio.client import connect

from tests.research.scripts import Script, rules
from tests.rig.server import Server

RUNS = 10
WATCHERS = 20
DELAY_S = 0.5  # before each piece of what a model says
APART_S = 0.7  # from one start to the next: people do not press in the same instant
TASKS = [
    {"title": f"Part {number}", "intent": "It.", "query": query}
    for number, query in enumerate(
        ("log events", "cursor", "doorbell", "fence", "hub", "slow readers", "cancel", "crash"), 1
    )
]
TOPIC = "What does the log promise, and who reads it?"
PASSWORD = "a-long-password"


@dataclass
class Crowd:
    """What was seen: seconds for a page, how many watchers saw their run's end, and how long."""

    pages_s: list[float] = field(default_factory=list)
    complete: int = 0
    frames: int = 0
    took_s: float = 0.0

    @property
    def p95_ms(self) -> float:
        ordered = sorted(self.pages_s)
        return ordered[max(0, round(0.95 * len(ordered)) - 1)] * 1000

    @property
    def p50_ms(self) -> float:
        return median(self.pages_s) * 1000


async def start(server: Server, headers: dict[str, str], number: int) -> str:
    async with connect(f"{server.ws_url}/ws/api/v1/", additional_headers=headers) as socket:
        await socket.recv()
        await socket.send(json.dumps({"type": "start", "id": 1, "topic": f"{TOPIC} ({number})"}))
        run: str = json.loads(await socket.recv())["run"]
        return run


async def watch(server: Server, headers: dict[str, str], run: str, crowd: Crowd) -> None:
    """Follow a run as its page does, and check that no frame is missing."""
    async with connect(f"{server.ws_url}/ws/api/v1/", additional_headers=headers) as socket:
        await socket.recv()
        spec = {"sub": "s", "run": run, "face": "html", "window": 256}
        await socket.send(json.dumps({"type": "subscribe", "id": 1, **spec}))
        seen = 0
        async for message in socket:
            frame = json.loads(message)
            if frame["type"] == "ack":
                epoch = frame["head"].partition(":")[0]
            elif frame["type"] == "events":
                assert frame["after"] == seen, "a frame is missing"
                seen = frame["upto"]
                crowd.frames += 1
                credit = {"type": "credit", "sub": "s", "cursor": f"{epoch}:{seen}"}
                await socket.send(json.dumps(credit))
            elif frame["type"] == "complete":
                assert frame["status"] == "completed"
                crowd.complete += 1
                return


async def look(client: httpx.AsyncClient, runs: list[str], crowd: Crowd) -> None:
    """Open the home page and each run's page, over and over."""
    while True:
        for path in ["/", *(f"/runs/{run}/" for run in runs)]:
            began = time.perf_counter()
            response = await client.get(path)
            crowd.pages_s.append(time.perf_counter() - began)
            assert response.status_code == 200, path
            await asyncio.sleep(0.1)


async def sign_in(client: httpx.AsyncClient) -> None:
    page = await client.get("/signin/")
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert token
    form = {"username": "crowd", "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
    answer = await client.post("/signin/", data=form, headers={"Referer": str(client.base_url)})
    assert answer.status_code == 302, answer.text


async def gather(server: Server, token: str, runs: int, watchers: int) -> Crowd:
    headers = {"Authorization": f"Bearer {token}"}
    crowd = Crowd()
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=30) as client:
        await sign_in(client)
        await client.get("/")
        began = time.perf_counter()
        started: list[str] = []
        followers: list[asyncio.Task[None]] = []
        looking = asyncio.create_task(look(client, started, crowd))
        for number in range(runs):
            started.append(run := await start(server, headers, number))
            watching = (watch(server, headers, run, crowd) for _ in range(watchers))
            followers += [asyncio.create_task(one) for one in watching]
            await asyncio.sleep(APART_S)
        await asyncio.wait_for(asyncio.gather(*followers), 300)
        crowd.took_s = time.perf_counter() - began
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        if looking.done() and not looking.cancelled() and (error := looking.exception()):
            raise error
    return crowd


def measure(runs: int = RUNS, watchers: int = WATCHERS) -> Crowd:
    """Bring the crowd together at a new server."""
    with TemporaryDirectory(prefix="soundings-bench-") as folder:
        script = Script(Path(folder) / "script")
        script.play(rules(DELAY_S, TASKS))
        server = Server("daphne", Path(folder), RESEARCH_MODEL=script.model)
        server.manage("first_run")
        server.create_user("crowd", PASSWORD)
        token = server.api_token("crowd")
        server.start()
        try:
            return asyncio.run(gather(server, token, runs, watchers))
        finally:
            server.close()
