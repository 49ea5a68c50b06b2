"""What is larger than may be sent is refused, says so, and costs no memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from project.bodies import BodyLimits
from tests.rig.server import Kind, Server

Serve = Callable[..., Server]
SMALL, LARGE = 1000, 5000
UPLOAD = "/library/7/upload/"


class Talk:
    """One request to an application that answers with how much it was sent."""

    def __init__(self, path: str, *chunks: int, **headers: str) -> None:
        self.scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": b"",
            "headers": [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()],
        }
        self.waiting = [
            {"type": "http.request", "body": b"x" * size, "more_body": at + 1 < len(chunks)}
            for at, size in enumerate(chunks)
        ]
        self.sent: list[Any] = []
        self.taken = 0

    async def receive(self) -> Any:
        return self.waiting.pop(0) if self.waiting else {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] == "http.request":
            self.taken += len(message["body"])
            if not message["more_body"]:
                await send({"type": "http.response.start", "status": 200, "headers": []})
                await send({"type": "http.response.body", "body": b"fine"})
                return

    async def go(self) -> int:
        await BodyLimits(self.application, small=SMALL, large=LARGE)(
            self.scope, self.receive, self.send
        )
        assert [message["type"] for message in self.sent] == [
            "http.response.start",
            "http.response.body",
        ]
        status: int = self.sent[0]["status"]
        return status

    @property
    def body(self) -> str:
        return str(self.sent[1]["body"].decode())


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        ("/runs/", SMALL, 200),
        ("/runs/", SMALL + 1, 413),
        (UPLOAD, SMALL + 1, 200),
        (UPLOAD, LARGE, 200),
        (UPLOAD, LARGE + 1, 413),
        ("/library/7/remove/", SMALL + 1, 413),
    ],
)
@pytest.mark.parametrize("declared", [True, False])
async def test_uploads_may_be_large_and_all_else_small(
    path: str, size: int, status: int, declared: bool
) -> None:
    headers = {"content_length": str(size)} if declared else {}
    half = size // 2
    assert await Talk(path, half, size - half, **headers).go() == status


async def test_what_is_declared_too_large_is_not_read_at_all() -> None:
    talk = Talk("/runs/", 500, 600, content_length="1100")
    assert (await talk.go(), talk.taken) == (413, 0)


async def test_the_refusal_is_a_sentence_in_the_language_and_form_that_was_asked_for() -> None:
    talk = Talk(UPLOAD, LARGE + 1, accept="application/json")
    await talk.go()
    error = json.loads(talk.body)["error"]
    assert (error["code"], error["retryable"]) == ("too_large", False)
    assert "0.005 MB" in error["message"]
    page = Talk(UPLOAD, LARGE + 1, accept_language="zh-hans")
    await page.go()
    assert '<html lang="zh-hans">' in page.body


@pytest.mark.parametrize("length", ["-5", "abc", "9" * 400, ""])
async def test_a_length_that_is_no_number_is_no_way_around(length: str) -> None:
    assert await Talk("/runs/", SMALL + 1, content_length=length).go() == 413


# --- on real servers ------------------------------------------------------------------------------
def memory_of(server: Server) -> float:
    """Return the most memory that the server has ever had, in MB."""
    assert server.process
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


PIECE = b"x" * 1_000_000


async def chunks(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield PIECE
        await asyncio.sleep(0)


@pytest.mark.parametrize("kind", ["daphne", "uvicorn"])
async def test_two_hundred_megabytes_are_refused_and_cost_nothing(serve: Serve, kind: Kind) -> None:
    server = serve(kind, UPLOAD_REQUEST_MB="8")
    async with httpx.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as client:
        assert (
            await client.post("/signin/", data={"username": "x"})
        ).status_code == 403  # no token
        before = memory_of(server)
        for path in (UPLOAD, "/signin/"):
            # Of a declared length, and in chunks, whose end nobody knows.
            for count, length in ((200, {"content-length": "200000000"}), (60, {})):
                headers = {"accept": "application/json", **length}
                answer = await client.post(path, content=chunks(count), headers=headers)
                assert answer.status_code == 413
                assert answer.json()["error"]["code"] == "too_large"
        assert memory_of(server) - before < 40
        assert (await client.get("/signin/")).status_code == 200
        many = {f"field{n}": "x" for n in range(10_000)}
        assert (await client.post("/signin/", data=many)).status_code in (400, 403)
