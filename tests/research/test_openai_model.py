"""A run by a real provider's client, through a real server, on loopback."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from tests.chaos.conftest import filled  # noqa: F401  a fixture
from tests.chaos.oracle import Oracle
from tests.chaos.watcher import Watcher
from tests.conftest import Serve
from tests.fakes.openai_server import FakeOpenAI, Fault
from tests.rig.server import Server

from .conftest import TOPIC

KEY = "sk-CANARY-123"
pytestmark = pytest.mark.timeout(90)


async def open_site(
    serve: Serve, data: tuple[Path, list[str]], fake: FakeOpenAI
) -> tuple[Server, Watcher]:
    server = serve(
        start=False,
        RESEARCH_MODEL="openai-chat:gpt-fake",
        OPENAI_BASE_URL=fake.url,
        OPENAI_API_KEY=KEY,
        LOG_LEVEL="DEBUG",
    )
    shutil.copytree(data[0], server.data_dir, dirs_exist_ok=True)
    await asyncio.to_thread(server.start)
    return server, Watcher(server, data[1][0])


def secrets_in(server: Server, fake: FakeOpenAI) -> list[str]:
    """Return the files of a server in which its key or its provider's address stands."""
    host = fake.url.removeprefix("http://").removesuffix("/v1")
    files = [path for path in server.data_dir.rglob("*") if path.is_file()]
    held = {path.name: path.read_bytes() for path in files}
    assert any(TOPIC.encode() in data for data in held.values())
    assert server.log_path.name in held
    return [name for name, data in held.items() if KEY.encode() in data or host.encode() in data]


async def test_a_run_by_a_provider_ends_with_a_cited_report(
    serve: Serve,
    filled: tuple[Path, list[str]],  # noqa: F811
) -> None:
    async with FakeOpenAI(delay=0.002) as fake:
        server, watcher = await open_site(serve, filled, fake)
        await watcher.start(TOPIC, "k")
        assert await watcher.complete() == "completed"
        log = await asyncio.to_thread(Oracle(server, watcher.run).check, watcher)
        assert {headers["authorization"] for headers in fake.headers} == {f"Bearer {KEY}"}
        assert {body["model"] for body in fake.requests} == {"gpt-fake"}
        assert all(body["stream"] for body in fake.requests)
        types = {event["type"] for event in log}
        assert types >= {
            "plan.proposed", "task.started", "task.completed", "llm.started", "llm.finished",
            "message.started", "message.delta", "message.completed", "tool.started",
            "tool.finished", "source.found", "note.saved", "report.section", "citation.checked",
            "report.completed",
        }  # fmt: skip
        (report,) = [event["data"] for event in log if event["type"] == "report.completed"]
        assert "[1]" in report["text"] and "[S" not in report["text"]
        deltas = [event for event in log if event["type"] == "message.delta"]
        assert len(deltas) > 3
        used = [event["data"] for event in log if event["type"] == "llm.finished"]
        assert all(data["input_tokens"] > 0 for data in used)
        ids = [event["data"]["tool_call_id"] for event in log if event["type"] == "tool.started"]
        assert len(ids) == len(set(ids)), "the ids that the provider gives are not unique"
        assert not fake.open
        server.kill()
        assert not secrets_in(server, fake)


async def test_a_provider_that_refuses_or_hangs_is_told_by_code_and_left(
    serve: Serve,
    filled: tuple[Path, list[str]],  # noqa: F811
) -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    async with FakeOpenAI(faults=[Fault("status", 401, {}, body) for _ in range(20)]) as fake:
        server, watcher = await open_site(serve, filled, fake)
        await watcher.start(TOPIC, "k")
        assert await watcher.complete() == "failed"
        log = await asyncio.to_thread(Oracle(server, watcher.run).check, watcher, status="failed")
        assert log[-1]["data"]["code"] == "provider_auth"
        assert KEY not in json.dumps(log)
        assert len(fake.requests) == 1, "a key that is refused is not tried again"

        fake.faults = [Fault("hang")] * 20
        second = Watcher(server, filled[1][0])
        await second.start(TOPIC, "k2")
        async with asyncio.timeout(10):
            while not fake.open:
                await asyncio.sleep(0.02)
        await second.command(type="cancel", run=second.run)
        assert await second.complete(5) == "cancelled"
        async with asyncio.timeout(2):
            while fake.open:
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)
        assert len(fake.requests) == 2, "the paid work has stopped"
        server.kill()
        assert not secrets_in(server, fake)
