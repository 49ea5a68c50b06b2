"""A client that writes down every frame, and comes back with its cursor whenever it is cut."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from tests.rig.server import Server

Event = dict[str, Any]
CUT = (ConnectionClosed, InvalidHandshake, OSError, EOFError, TimeoutError)


class Refused(Exception):
    """The server answered with an error; its code."""


class Watcher:
    """Follows one run over as many connections as it takes."""

    def __init__(self, server: Server, token: str, run: str = "") -> None:
        self.server = server
        self.run = run
        self.events: list[Event] = []
        self.status = ""
        self.connections = 0
        self.gaps: list[dict[str, Any]] = []
        self._headers = {"Authorization": f"Bearer {token}"}
        self._cursor = "start"
        self._news = asyncio.Condition()
        self._socket: ClientConnection | None = None
        self._last_id = 0
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}

    async def start(self, topic: str, key: str, **options: Any) -> dict[str, Any]:
        """Start a run, and follow it from before its first event; return the ack."""
        self._task = asyncio.create_task(self._follow(topic, key, options))
        return await self._opened()

    async def follow(self) -> dict[str, Any]:
        """Begin to follow the run; return the ack."""
        self._task = asyncio.create_task(self._follow(None, "", {}))
        return await self._opened()

    async def _opened(self) -> dict[str, Any]:
        self._first: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._task.add_done_callback(self._gave_up)
        async with asyncio.timeout(20):
            return await self._first

    def _gave_up(self, task: asyncio.Task[None]) -> None:
        if not self._first.done() and not task.cancelled() and (error := task.exception()):
            self._first.set_exception(error)

    async def complete(self, timeout: float = 60) -> str:
        """Wait for the end of the run, and return its status."""
        async with asyncio.timeout(timeout):
            await self._task
        return self.status

    async def until(self, holds: Callable[[Event], bool], timeout: float = 30) -> Event:
        """Wait for an event, and return it."""
        async with asyncio.timeout(timeout), self._news:
            while not (found := [event for event in self.events if holds(event)]):
                await self._news.wait()
        return found[0]

    async def command(self, **command: Any) -> dict[str, Any]:
        """Send a command on the open connection; return its ack, or raise `Refused`."""
        assert self._socket
        self._last_id += 1
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[self._last_id] = answer
        await self._socket.send(json.dumps({"id": self._last_id, **command}))
        async with asyncio.timeout(10):
            return await answer

    async def close(self) -> None:
        """Go away."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    # --- the connection ------------------------------------------------------------------------
    async def _follow(self, topic: str | None, key: str, options: dict[str, Any]) -> None:
        for _ in range(600):
            try:
                async with connect(
                    f"{self.server.ws_url}/ws/api/v1/",
                    additional_headers=self._headers,
                    subprotocols=["soundings.v1"],  # type: ignore[list-item]
                    proxy=None,
                    open_timeout=5,
                ) as socket:
                    self.connections += 1
                    self._socket = socket
                    await self._talk(socket, topic, key, options)
                    return
            except CUT:
                self._socket = None
                await asyncio.sleep(0.1)
        raise AssertionError("The server did not come back.")

    async def _talk(
        self, socket: ClientConnection, topic: str | None, key: str, options: dict[str, Any]
    ) -> None:
        hello = json.loads(await socket.recv())
        assert hello["type"] == "hello", hello
        how = {"sub": "s", "cursor": self._cursor}
        if topic is not None and not self.run:
            start = {"type": "start", "key": key, "topic": topic, "options": options}
            asking = asyncio.create_task(self.command(**start, subscribe=how))
        else:
            asking = asyncio.create_task(self.command(type="subscribe", run=self.run, **how))
        asking.add_done_callback(self._asked)
        async for text in socket:
            if await self._take(json.loads(text)):
                return

    def _asked(self, asking: asyncio.Task[dict[str, Any]]) -> None:
        if asking.cancelled() or self._first.done():
            return
        if error := asking.exception():
            if isinstance(error, Refused):
                self._first.set_exception(error)
        else:
            self._first.set_result(asking.result())

    async def _take(self, frame: dict[str, Any]) -> bool:
        """Take a frame; return whether it is the last."""
        match frame["type"]:
            case "ack":
                if "sub" in frame:
                    self.run = frame["run"]
                    self._cursor = frame["cursor"]
                self._answers.pop(frame["id"]).set_result(frame)
            case "error":
                self._answers.pop(frame["id"]).set_exception(Refused(frame["code"]))
            case "gap":
                self.gaps.append(frame)
            case "events":
                epoch, _, seq = self._cursor.partition(":")
                assert frame["after"] == int(seq), (self._cursor, frame["after"])
                assert [e["seq"] for e in frame["events"]] == list(
                    range(frame["after"] + 1, frame["upto"] + 1)
                )
                self.events += frame["events"]
                self._cursor = f"{epoch}:{frame['upto']}"
                async with self._news:
                    self._news.notify_all()
            case "complete":
                self.status = frame["status"]
                assert frame["cursor"] == self._cursor
                return True
        return False
