"""Starting and stopping with the server, whichever it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from project.doors import Doors
from tests.rig.server import Server

Serve = Callable[..., Server]


async def nothing() -> None:
    pass


async def fail() -> None:
    raise RuntimeError("no")


async def lifespan(doors: Doors, *messages: str) -> list[str]:
    said: list[str] = []

    async def send(message: dict[str, Any]) -> None:
        said.append(message["type"])

    queue = [{"type": f"lifespan.{message}"} for message in messages]

    async def receive() -> dict[str, Any]:
        return queue.pop(0)

    await doors.lifespan({"type": "lifespan"}, receive, send)
    return said


async def test_a_lifespan_starts_and_stops() -> None:
    said = await lifespan(Doors(nothing, nothing), "startup", "shutdown")
    assert said == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


async def test_a_start_that_fails_is_told_to_the_server() -> None:
    assert await lifespan(Doors(fail, nothing), "startup") == ["lifespan.startup.failed"]


@pytest.mark.parametrize(("closing", "finished"), [(True, True), (False, False)])
async def test_a_cancelled_socket_gets_a_moment_only_when_the_server_closes(
    closing: bool, finished: bool
) -> None:
    doors, said = Doors(nothing, nothing), []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.05)
        said.append("goodbye")

    task = asyncio.ensure_future(doors.shield(application)({}, None, None))
    await asyncio.sleep(0)
    doors.closing = closing
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.1)
    assert bool(said) is finished


@pytest.mark.parametrize("kind", ["daphne", "uvicorn"])
async def test_a_real_server_is_ready_refuses_strangers_and_ends(serve: Serve, kind: str) -> None:
    server = await asyncio.to_thread(serve, kind)

    async def status(path: str, **options: Any) -> int:
        try:
            async with connect(server.ws_url + path, proxy=None, **options):
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code

    assert await status("/ws/v1/", origin=server.origin) == 101
    assert await status("/ws/v1/", origin=f"http://localhost:{server.port}") == 101
    strangers = [
        "https://evil.example",
        "null",
        None,
        "http://localhost:1",
        f"https://localhost:{server.port}",
        f"http://127.0.0.1.evil.example:{server.port}",
    ]
    for origin in strangers:
        assert await status("/ws/v1/", origin=origin) == 403, origin
    # One that cannot be parsed; daphne looks at it before we do.
    assert await status("/ws/v1/", origin=f"{server.origin}.evil.example") in {400, 403}
    assert await status("/ws/nothing/", origin=server.origin) == 403

    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        page = await client.get("/healthz")
        assert page.text == "ok\n"
        assert "default-src 'self'" in page.headers["content-security-policy"]
        style = await client.get("/static/admin/css/base.css")
        assert style.headers["content-type"].startswith("text/css")
        assert style.headers["x-content-type-options"] == "nosniff"
        modified = {"if-modified-since": style.headers["last-modified"]}
        assert (await client.get("/static/admin/css/base.css", headers=modified)).status_code == 304
        assert (await client.get("/static/nothing.css")).status_code == 404
    await asyncio.to_thread(server.stop, 15)
    assert "Traceback" not in server.log()
    assert "Warning" not in server.log()


@pytest.mark.parametrize("kind", ["daphne", "uvicorn"])
def test_a_server_whose_engine_does_not_start_ends_as_a_failure(serve: Serve, kind: str) -> None:
    server = serve(kind, start=False, ENGINE="builtins.dict")
    with pytest.raises(AssertionError, match="The server ended at once"):
        server.start()
    assert server.process
    assert server.process.returncode not in (None, 0)


def test_a_killed_server_starts_again_on_its_data(serve: Serve) -> None:
    server = serve()
    server.create_user("ann", is_staff=True)
    server.kill()
    server.start()
    users = "from django.contrib.auth.models import User; print(User.objects.get().username)"
    assert server.manage("shell", "--no-imports", "-v", "0", "-c", users) == "ann\n"


def test_two_servers_share_a_postgres_and_a_valkey(serve: Serve) -> None:
    first = serve("uvicorn", on="servers")
    second = serve("daphne", beside=first)
    assert first.env["DATABASE_URL"] == second.env["DATABASE_URL"]
    for server in (first, second):
        assert httpx.get(f"{server.url}/readyz", trust_env=False).json()["status"] == "ready"


async def test_a_person_signs_in_over_http_and_daphne_says_goodbye(serve: Serve) -> None:
    server = await asyncio.to_thread(serve, "daphne")
    await asyncio.to_thread(server.create_user, "ann")
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        await client.get("/signin/")
        form = {"username": "ann", "password": "a-long-password"}
        form["csrfmiddlewaretoken"] = client.cookies["soundings_csrf"]
        assert (await client.post("/signin/", data=form)).headers["location"] == "/"
        cookie = {"Cookie": f"soundings_session={client.cookies['soundings_session']}"}
    url = f"{server.ws_url}/ws/v1/"
    async with connect(url, origin=server.origin, additional_headers=cookie, proxy=None) as socket:
        assert json.loads(await socket.recv())["user"] == "ann"
        # Until daphne has forgotten the connections before, it fails to cancel anything at its end.
        await asyncio.sleep(3)
        stopping = asyncio.create_task(asyncio.to_thread(server.stop, 15))
        said = [json.loads(text) async for text in _until_closed(socket)]
        assert said[-1]["code"] == "restarting"
        assert socket.close_code == 4412
        assert await stopping == 0


async def _until_closed(socket: ClientConnection) -> AsyncIterator[str | bytes]:
    with suppress(ConnectionClosed):
        while True:
            yield await asyncio.wait_for(socket.recv(), 10)
