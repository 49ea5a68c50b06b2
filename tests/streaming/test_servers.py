"""The websocket on real servers: what daphne and uvicorn make of it, over a real connection."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from streaming.consumers import SUBPROTOCOL
from tests.rig.server import Server

pytestmark = pytest.mark.parametrize("kind", ["daphne", "uvicorn"])
Serve = Callable[..., Server]

SET_UP = """
import json
from django.contrib.auth.models import User
from research.access import new_token
from research.models import Run
from streaming import log, vocabulary as v
from streaming.events import Voice, draft
from streaming.models import Stream

def run_of(user, events, size, closed):
    stream = Stream.objects.create()
    Run.objects.create(stream=stream, user=user, topic="kelp", status="running")
    voice = Voice(source_member="研究员", stream_token="task_1")
    texts = [f"{number} 字🦀" + "x" * size for number in range(events)]
    said = [draft(voice, v.Status(message=text)) for text in texts]
    log.append(stream.pk, said + ([draft(Voice(), v.RunCompleted())] if closed else []))
    return str(stream.pk)

ann, bob = (User.objects.create_user(name) for name in ("ann", "bob"))
print(json.dumps({
    "ann": new_token(ann), "bob": new_token(bob),
    "small": run_of(ann, 100, 10, True), "open": run_of(ann, 1, 10, False),
    "large": run_of(ann, 2000, 5000, True),
}))
"""
SAY_MORE = """
from streaming import log, vocabulary as v
from streaming.events import Voice, draft
said = [v.Status(message="from outside"), v.RunFailed(code="x", message="y")]
log.append("{run}", [draft(Voice(), data) for data in said])
"""


def started(serve: Serve, kind: str) -> tuple[Server, dict[str, str]]:
    server = serve(kind, start=False)
    given = json.loads(server.manage("shell", "--no-imports", "-v", "0", "-c", SET_UP))
    server.start()
    return server, given


def enter(server: Server, token: str = "", **options: Any) -> connect:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    given: dict[str, Any] = {"subprotocols": [Subprotocol(SUBPROTOCOL)], "proxy": None} | options
    return connect(f"{server.ws_url}/ws/api/v1/", additional_headers=headers, **given)


async def frame(socket: ClientConnection, seconds: float = 10.0) -> dict[str, Any]:
    async with asyncio.timeout(seconds):
        found = json.loads(await socket.recv())
    assert isinstance(found, dict)
    return found


async def tell(socket: ClientConnection, **command: Any) -> None:
    await socket.send(json.dumps(command))


async def follow(
    socket: ClientConnection, run: str, *, window: int | None = None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Follow a run to its end, acknowledge, and prove that nothing is missing."""
    await tell(socket, type="subscribe", id=1, sub="s1", run=run, window=window)
    ack = await frame(socket)
    assert ack["type"] == "ack", ack
    epoch = ack["head"].partition(":")[0]
    events: list[dict[str, Any]] = []
    seen = 0
    while (found := await frame(socket))["type"] != "complete":
        if found["type"] == "events":
            assert found["after"] == seen
            seen = found["upto"]
            events += found["events"]
            if window:
                await tell(socket, type="credit", sub="s1", cursor=f"{epoch}:{seen}")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    return events, found


async def closing(socket: ClientConnection) -> tuple[dict[str, Any], int | None]:
    """Return the last frame and the close code."""
    last: dict[str, Any] = {}
    with pytest.raises(ConnectionClosed):
        while True:
            last = await frame(socket)
    return last, socket.close_code


async def test_the_protocol_holds_from_hello_to_the_servers_end(serve: Serve, kind: str) -> None:
    server, given = await asyncio.to_thread(started, serve, kind)

    async with enter(server, given["ann"]) as socket:
        assert socket.subprotocol == SUBPROTOCOL
        hello = await frame(socket)
        assert (hello["type"], hello["user"]) == ("hello", "ann")
        for window in (7, None):
            events, complete = await follow(socket, given["small"], window=window)
            assert len(events) == 101
            assert events[41]["data"]["message"].startswith("41 字🦀")
            assert complete["status"] == "completed"

        bad = ("{", "null", "[]", "[" * 60_000, '{"type":"ping","id":NaN}')
        for message in bad[:4]:
            await socket.send(message)
            assert (await frame(socket))["code"] == "bad_request"
        await tell(socket, type="ping", id=2)
        assert await frame(socket) == {"type": "pong", "id": 2}
        await socket.send(b"\x00\x01")
        for message in bad[1:]:
            await socket.send(message)
        error, code = await closing(socket)
        assert (error["code"], code) == ("bad_request", 4400)

    async with enter(server, given["bob"]) as socket:
        await frame(socket)
        for run in (given["small"], "00000000-0000-0000-0000-000000000000"):
            await tell(socket, type="subscribe", id=1, sub="s1", run=run)
            assert (await frame(socket))["code"] == "not_found"

    async with enter(server, subprotocols=[Subprotocol("graphql-ws")]) as socket:
        error, code = await closing(socket)
        assert (error["code"], code) == ("no_subprotocol", 4406)
    for token in ("", "wrong"):
        async with enter(server, token) as socket:
            error, code = await closing(socket)
            assert (error["code"], code) == ("not_logged_in", 4401)

    async with enter(server, given["ann"]) as one, enter(server, given["ann"]) as other:
        await frame(one)
        following = asyncio.create_task(follow(one, given["open"]))
        more = SAY_MORE.format(run=given["open"])
        shell = ("shell", "--no-imports", "-v", "0", "-c", more)
        await asyncio.to_thread(server.manage, *shell)
        async with asyncio.timeout(15):  # another process wrote it: the tick tells
            events, complete = await following
        assert [event["type"] for event in events] == ["status", "status", "run.failed"]
        assert complete["status"] == "failed"

        stopping = asyncio.create_task(asyncio.to_thread(server.stop))
        for socket in (one, other):
            error, code = await closing(socket)
            if kind == "uvicorn":  # it closes sockets itself, before it tells of its end
                assert code == 1012
            else:
                assert (error["code"], error["retryable"], code) == ("restarting", True, 4412)
        assert await stopping in (0, -15, 143)
    assert "Traceback" not in server.log()
    assert "error of ours" not in server.log()


async def test_readers_that_do_not_read_or_break_off_cost_little_and_delay_nobody(
    serve: Serve, kind: str
) -> None:
    server, given = await asyncio.to_thread(started, serve, kind)
    assert server.process
    status = Path(f"/proc/{server.process.pid}/status")

    def memory() -> int:
        """Return the resident memory of the server in MB."""
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) // 1024

    async with enter(server, given["ann"]) as socket:
        await frame(socket)
        await follow(socket, given["large"], window=500)
        before = memory()
    stuck = [await enter(server, given["ann"], max_queue=1) for _ in range(10)]
    for number, reader in enumerate(stuck):
        window = 4096 if number % 2 else None
        for id in range(3):
            sub = {"sub": f"s{id}", "run": given["large"], "window": window}
            await tell(reader, type="subscribe", id=id, **sub)
    began = time.monotonic()
    async with enter(server, given["ann"]) as socket:
        await frame(socket)
        events, _ = await follow(socket, given["large"], window=500)
        assert len(events) == 2001  # ten megabytes
    assert time.monotonic() - began < 10
    await asyncio.sleep(1)
    assert memory() - before < 200  # of the three hundred that they have asked for
    for reader in stuck:
        reader.transport.abort()
    await asyncio.sleep(0.3)
    async with enter(server, given["ann"]) as socket:
        assert (await frame(socket))["type"] == "hello"
    await asyncio.to_thread(server.stop)
    assert "Traceback" not in server.log()
    assert "error of ours" not in server.log()
