"""Question: how long a person waits for the first event, and for the whole report."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from websockets.asyncio.client import connect

from tests.rig.server import Server

QUESTIONS = (
    "How does Soundings make sure that no event is lost?",
    "What happens when the server crashes?",
    "Soundings 如何保证事件不丢失？",
)


@dataclass(frozen=True)
class Waited:
    """Seconds from the start command to the first event, and to the end of the run."""

    first: float
    report: float


async def ask(server: Server, token: str, question: str) -> Waited:
    headers = {"Authorization": f"Bearer {token}"}
    async with connect(f"{server.ws_url}/ws/api/v1/", additional_headers=headers) as socket:
        await socket.recv()
        began = time.perf_counter()
        start = {"type": "start", "id": 1, "topic": question, "subscribe": {"sub": "q"}}
        await socket.send(json.dumps(start))
        first = 0.0
        async for message in socket:
            frame = json.loads(message)
            if frame["type"] == "events" and not first:
                first = time.perf_counter() - began
            if frame["type"] == "complete":
                assert frame["status"] == "completed"
                return Waited(first, time.perf_counter() - began)
    raise AssertionError("the run did not end")


def measure(repetitions: int) -> list[Waited]:
    """Ask each question of a new server with the project's own documentation, so many times."""
    with TemporaryDirectory(prefix="soundings-bench-") as folder:
        server = Server("daphne", Path(folder))
        server.manage("first_run")
        token = server.api_token("admin")
        server.start()
        try:
            asyncio.run(ask(server, token, QUESTIONS[0]))  # the index is read at the first search
            return [
                asyncio.run(ask(server, token, question))
                for _ in range(repetitions)
                for question in QUESTIONS
            ]
        finally:
            server.close()
