"""Sockets on real servers: who may open one, how long it lives, and what it may be sent."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from streaming.consumers import SUBPROTOCOL
from tests.rig.server import Server

from .belongings import PASSWORD

Serve = Callable[..., Server]
SET_UP = f"""
import json
from django.contrib.auth.models import User
from research.access import new_token
names = ("ann", "bob", "cat", "dan", "eve")
users = {{name: User.objects.create_user(name, password={PASSWORD!r}) for name in names}}
print(json.dumps({{name: new_token(user) for name, user in users.items()}}))
"""
END = """
from datetime import timedelta
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone
from research.access import revoke
from research.models import ApiToken
for session in Session.objects.all():
    if User.objects.get(pk=session.get_decoded()["_auth_user_id"]).username == "bob":
        session.expire_date = timezone.now()
        session.save()
cat = User.objects.get(username="cat")
cat.set_password("another long one")
cat.save()
User.objects.filter(username="dan").update(is_active=False)
revoke(ApiToken.objects.filter(user__username="ann"))
ApiToken.objects.filter(user__username="bob").update(expires_at=timezone.now())
ApiToken.objects.filter(user__username="cat").delete()
"""


def shell(server: Server, code: str) -> str:
    return server.manage("shell", "--no-imports", "-v", "0", "-c", code)


async def signed_in(server: Server, name: str) -> httpx.AsyncClient:
    client = httpx.AsyncClient(base_url=server.url, trust_env=False)
    await client.get("/signin/")
    form = {"username": name, "password": PASSWORD}
    form["csrfmiddlewaretoken"] = client.cookies["soundings_csrf"]
    assert (await client.post("/signin/", data=form)).headers["location"] == "/"
    return client


async def by_session(server: Server, client: httpx.AsyncClient, path: str = "/ws/v1/") -> Any:
    cookie = {"Cookie": f"soundings_session={client.cookies['soundings_session']}"}
    return await _open(server, path, additional_headers=cookie, origin=server.origin)


async def by_token(server: Server, token: str, path: str = "/ws/api/v1/") -> Any:
    header = {"Authorization": f"Bearer {token}"} if token else {}
    return await _open(server, path, additional_headers=header)


async def _open(server: Server, path: str, **options: Any) -> ClientConnection:
    subprotocols = [Subprotocol(SUBPROTOCOL)]
    return await connect(
        server.ws_url + path, subprotocols=subprotocols, proxy=None, max_size=None, **options
    )


async def frame(socket: ClientConnection, seconds: float = 10.0) -> dict[str, Any]:
    async with asyncio.timeout(seconds):
        found = json.loads(await socket.recv())
    assert isinstance(found, dict)
    return found


async def end(socket: ClientConnection, seconds: float = 10.0) -> tuple[str, int | None, float]:
    """Return the code of the last error, the close code, and when it came."""
    last: dict[str, Any] = {}
    async with asyncio.timeout(seconds):
        try:
            while True:
                last = json.loads(await socket.recv())
        except ConnectionClosed:
            return last.get("code", ""), socket.close_code, time.monotonic()


async def test_what_ends_a_session_or_a_token_anywhere_ends_its_sockets_here(serve: Serve) -> None:
    """The sockets are on one server; the end comes from another, and from a shell."""
    first = await asyncio.to_thread(lambda: serve("uvicorn", on="servers"))
    tokens = json.loads(await asyncio.to_thread(shell, first, SET_UP))
    second = await asyncio.to_thread(lambda: serve("daphne", beside=first))
    clients = {name: await signed_in(first, name) for name in ("ann", "bob", "cat", "dan", "eve")}
    ending = {f"{name} in": await by_session(second, clients[name]) for name in clients}
    ending |= {f"{name}'s token": await by_token(second, tokens[name]) for name in tokens}
    for socket in ending.values():
        assert (await frame(socket))["type"] == "hello"
    staying = [ending.pop(name) for name in ("eve in", "eve's token")]

    watching = {name: asyncio.create_task(end(socket, 30)) for name, socket in ending.items()}
    await asyncio.to_thread(shell, second, END)
    form = {"csrfmiddlewaretoken": clients["ann"].cookies["soundings_csrf"]}
    assert (await clients["ann"].post("/signout/", data=form)).status_code == 302
    began = time.monotonic()
    for name, task in watching.items():
        code, close_code, when = await task
        assert (code, close_code) == ("session_ended", 4419), name
        assert when - began < 5, name
    for socket in staying:
        await socket.send('{"type":"ping","id":1}')
        assert (await frame(socket))["type"] == "pong"
        await socket.close()
    for name, client in clients.items():
        page = await client.get("/")
        assert page.status_code == (200 if name == "eve" else 302), name
        await client.aclose()
    for server in (first, second):
        assert "Traceback" not in server.log()


async def test_only_a_token_in_the_header_opens_the_programs_door(serve: Serve) -> None:
    server = await asyncio.to_thread(serve, "daphne")
    tokens = json.loads(await asyncio.to_thread(shell, server, SET_UP))
    token = tokens["ann"]
    client = await signed_in(server, "ann")
    refused = {
        "none": await by_token(server, ""),
        "wrong": await by_token(server, token[:-1] + ("x" if token[-1] != "x" else "y")),
        "in the address": await by_token(server, "", f"/ws/api/v1/?token={token}"),
        "in the address, by another name": await by_token(
            server, "", f"/ws/api/v1/?access_token={token}&authorization=Bearer%20{token}"
        ),
        "a session": await by_session(server, client, "/ws/api/v1/"),
        "a session at the browsers' door that is none": await _open(
            server, "/ws/v1/", origin=server.origin
        ),
        "a token at the browsers' door": await _open(
            server, "/ws/v1/", origin=server.origin,
            additional_headers={"Authorization": f"Bearer {token}"},
        ),
    }  # fmt: skip
    for name, socket in refused.items():
        assert (await end(socket))[:2] == ("not_logged_in", 4401), name
    async with await by_token(server, token) as socket:
        assert (await frame(socket))["user"] == "ann"
    await client.aclose()
    assert token not in server.log()


# --- what a socket may be sent -------------------------------------------------------------------
MALFORMED = [
    "{", "[]", "null", "7", '"x"', "[" * 20_000, '{"type":"ping","id":NaN}', '{"a":' * 5_000,
    '{"type":"ping","\\ud800":1}', b"\x00\xff", '{"type":"ping","id":1}{', "1e999", "\0",
]  # fmt: skip


def memory_of(server: Server) -> float:
    """Return the resident memory of the server in MB."""
    assert server.process
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def pieces(size: int) -> Iterator[str]:
    for _ in range(size):
        yield "x"


@pytest.mark.parametrize("kind", ["daphne", "uvicorn"])
async def test_nothing_that_a_client_sends_costs_much_or_breaks_anything(
    serve: Serve, kind: str
) -> None:
    server = await asyncio.to_thread(serve, kind)
    token = json.loads(await asyncio.to_thread(shell, server, SET_UP))["ann"]
    witness = await by_token(server, token)
    await frame(witness)

    async def flood(number: int) -> None:
        socket = await by_token(server, token)
        with contextlib.suppress(ConnectionClosed):
            for turn in range(100):
                await socket.send(MALFORMED[(number + turn) % len(MALFORMED)])
        code, close_code, _ = await end(socket, 60)
        assert (code, close_code) in {("bad_request", 4400), ("", 1007)}

    async def floods() -> float:
        for ten in range(10):
            await asyncio.gather(*(flood(ten * 10 + number) for number in range(10)))
        return memory_of(server)

    await floods()  # makes the threads, and what they keep
    warm = await floods()
    assert await floods() - warm < 15

    # Far too large: the transport ends it, and keeps nothing of it.
    before = memory_of(server)
    for _ in range(3):
        socket = await by_token(server, token)
        await frame(socket)
        with contextlib.suppress(ConnectionClosed):
            await socket.send("x" * 10_000_000)
        assert (await end(socket))[1] in (1006, 1009)
    assert memory_of(server) - before < 15

    # A little too large, and in pieces of a byte: we answer.
    socket = await by_token(server, token)
    await frame(socket)
    await socket.send("x" * 65_537)
    assert (await frame(socket))["code"] == "too_large"
    await socket.send(pieces(66_000))
    assert (await frame(socket, 30))["code"] == "too_large"
    await socket.close()

    await witness.send('{"type":"ping","id":1}')
    async with asyncio.timeout(5):
        while (await frame(witness))["type"] != "pong":
            pass
    await witness.close()
    assert "Traceback" not in server.log()
    assert " ERROR " not in server.log()

    # What is no UTF-8 is for the server itself, which says so in its own words.
    socket = await by_token(server, token)
    await frame(socket)
    await socket.send(b"\xff\xfe{", text=True)
    assert (await end(socket))[1] == (1007 if kind == "uvicorn" else 1006)
    async with await by_token(server, token) as other:
        assert (await frame(other))["type"] == "hello"
    assert "error of ours" not in server.log()
