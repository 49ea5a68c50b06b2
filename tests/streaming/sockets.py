"""A websocket to test with, without a server: what goes in and comes out of the application."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import Any

from streaming.consumers import SUBPROTOCOL, ApiConsumer, BrowserConsumer


def user(pk: int = 1, name: str = "ann", **fields: Any) -> Any:
    given = {"pk": pk, "is_authenticated": True, "is_active": True, "name": name} | fields
    return SimpleNamespace(
        **given, get_username=lambda: name, get_session_auth_hash=lambda: "of the password"
    )


class Socket:
    """One connection to a consumer, as a client sees it."""

    def __init__(
        self,
        application: Callable[..., Awaitable[None]] | None = None,
        *,
        who: Any = None,
        session: str = "session",
        headers: Sequence[tuple[bytes, bytes]] = (),
        subprotocols: Sequence[str] = (SUBPROTOCOL,),
    ) -> None:
        self.scope: dict[str, Any] = {
            "type": "websocket",
            "path": "/ws/v1/",
            "headers": list(headers),
            "subprotocols": list(subprotocols),
            "user": who,
            "session": SimpleNamespace(session_key=session),
        }
        self.application = application or BrowserConsumer.as_asgi()
        self.inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.reads = asyncio.Event()
        self.reads.set()
        self.code: int | None = None
        self.broken = False
        self.accepted: dict[str, Any] = {}
        self._ids = 0

    @classmethod
    def of_token(cls, token: str, scheme: str = "Bearer") -> Socket:
        header = (b"authorization", f"{scheme} {token}".encode())
        return cls(ApiConsumer.as_asgi(), headers=[header])

    async def open(self) -> dict[str, Any]:
        """Connect, and return the first frame."""
        self.inbox.put_nowait({"type": "websocket.connect"})
        self.task = asyncio.ensure_future(self.application(self.scope, self.inbox.get, self._take))
        self.accepted = await self.message()
        assert self.accepted["type"] == "websocket.accept"
        return await self.frame()

    async def _take(self, message: dict[str, Any]) -> None:
        await self.reads.wait()
        if self.broken:
            raise ConnectionResetError("the client is gone")
        assert self.code is None, "something was sent after the close"
        if message["type"] == "websocket.close":
            self.code = message["code"]
        self.outbox.put_nowait(message)

    async def message(self, seconds: float = 5.0) -> dict[str, Any]:
        async with asyncio.timeout(seconds):
            return await self.outbox.get()

    async def frame(self, seconds: float = 5.0) -> dict[str, Any]:
        """Return the next frame."""
        message = await self.message(seconds)
        assert message["type"] == "websocket.send", message
        frame = json.loads(message["text"])
        assert isinstance(frame, dict)
        return frame

    async def frame_of(self, *types: str, seconds: float = 5.0) -> dict[str, Any]:
        """Return the next frame of these types; those before it are passed over."""
        while (frame := await self.frame(seconds))["type"] not in types:
            pass
        return frame

    async def frames_until(self, type: str, seconds: float = 5.0) -> list[dict[str, Any]]:
        """Return the next frames, to the first of this type."""
        frames = [await self.frame(seconds)]
        while frames[-1]["type"] != type:
            frames.append(await self.frame(seconds))
        return frames

    async def close_code(self, seconds: float = 5.0) -> tuple[dict[str, Any], int]:
        """Return the last frame and the code with which the socket was closed."""
        last: dict[str, Any] = {}
        while (message := await self.message(seconds))["type"] != "websocket.close":
            last = json.loads(message["text"])
        async with asyncio.timeout(5):
            await self.task
        return last, message["code"]

    def text(self, text: str) -> None:
        self.inbox.put_nowait({"type": "websocket.receive", "text": text})

    def binary(self, data: bytes) -> None:
        self.inbox.put_nowait({"type": "websocket.receive", "bytes": data})

    def tell(self, type: str, **fields: Any) -> None:
        """Send a message that is not answered."""
        self.text(json.dumps({"type": type, **fields}))

    async def ask(self, type: str, **fields: Any) -> dict[str, Any]:
        """Send a command, and return its answer; other frames before it are passed over."""
        self._ids += 1
        id = fields.pop("id", self._ids)
        self.tell(type, id=id, **fields)
        while True:
            frame = await self.frame()
            if frame["type"] in ("ack", "error", "pong") and frame["id"] == id:
                return frame

    async def disconnect(self) -> None:
        self.inbox.put_nowait({"type": "websocket.disconnect", "code": 1001})
        self.reads.set()
        async with asyncio.timeout(5):
            await self.task
