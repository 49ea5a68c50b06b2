"""Subscriptions: what one socket follows, each by a task of its own."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec

from . import log
from .commands import Answer, Principal, SubscribeSpec
from .conf import conf
from .cursor import resolve
from .exceptions import BadRequest, Conflict, NotFound, RateLimited
from .faces import FACES, View
from .feed import Feed
from .flow import Flow, Throttle, Window
from .runtime import Runtime
from .subscription import Complete, follow

logger = logging.getLogger(__name__)

Send = Callable[[str], Awaitable[None]]


@dataclass(slots=True)
class Following:
    """One subscription of a socket."""

    run: UUID
    flow: Flow
    task: asyncio.Task[None] | None = None
    feed: Feed | None = None
    opened: asyncio.Future[dict[str, Any]] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Subscriptions:
    """Opens, feeds and ends the subscriptions of a socket."""

    def __init__(
        self,
        runtime: Runtime,
        principal: Principal,
        send: Send,
        failed: Callable[[BaseException], None],
    ) -> None:
        self._runtime = runtime
        self._principal = principal
        self._send = send
        self._failed = failed
        self._open: dict[str, Following] = {}

    def check_room(self, spec: SubscribeSpec) -> None:
        """Raise `Conflict` or `RateLimited` where there is no room for another subscription."""
        if spec.sub in self._open:
            raise Conflict(f"There is a subscription {spec.sub} already.", code="sub_in_use")
        if len(self._open) >= conf().subscriptions:
            raise RateLimited(f"A socket holds at most {conf().subscriptions} subscriptions.")

    async def subscribe(self, run: UUID, spec: SubscribeSpec) -> tuple[Answer, Callable[[], None]]:
        """Open a subscription; return its ack, and what starts it once the ack is sent."""
        limits = conf()
        self.check_room(spec)
        state = await self._runtime.readers.run(self._runtime.access, self._principal.user_id, run)
        if state is None:
            raise NotFound("There is no such run.")
        flow: Flow = (
            Window(spec.window, limits.window_bytes, limits.slow_s)
            if spec.window
            else Throttle(limits.throttle_bytes_s, limits.throttle_burst_bytes)
        )
        following = Following(run, flow)
        self._open[spec.sub] = following
        go = asyncio.Event()
        following.task = asyncio.create_task(self._run(following, spec, go))
        following.task.add_done_callback(functools.partial(self._ended, spec.sub))
        try:
            fields = await following.opened
        except BaseException:  # it could not be opened, or the socket ended meanwhile
            self._open.pop(spec.sub, None)
            following.task.cancel()
            raise
        return Answer({"sub": spec.sub, "run": str(run), "state": state, **fields}), go.set

    def unsubscribe(self, sub: str) -> None:
        """End a subscription; `BadRequest` where there is none of this name."""
        following = self._open.pop(sub, None)
        if following is None:
            raise BadRequest(f"There is no subscription {sub}.")
        if following.task:
            following.task.cancel()

    def credit(self, sub: str, cursor: str) -> None:
        """Take a reader's acknowledgement. One for a subscription that has ended says nothing."""
        following = self._open.get(sub)
        if following and following.feed:
            epoch, seq = cursor.split(":")
            if epoch == following.feed.epoch:
                following.flow.credit(int(seq))

    def heads(self) -> dict[str, str]:
        """Return where the log of each subscription stands."""
        return {sub: f.feed.cursor for sub, f in self._open.items() if f.feed}

    def runs(self) -> set[UUID]:
        """Return the runs that are followed."""
        return {f.run for f in self._open.values() if f.opened.done()}

    def hide(self, run: UUID) -> None:
        """End what follows a run that may not be seen any more, as if there were none."""
        for sub, following in self._open.items():
            if following.run == run and following.opened.done() and following.task:
                following.task.cancel()
                following.task = asyncio.create_task(self._say_gone(sub, following.task))
                following.task.add_done_callback(functools.partial(self._ended, sub))

    async def _say_gone(self, sub: str, following: asyncio.Task[None]) -> None:
        await asyncio.wait({following})
        gone = NotFound("There is no such run.")
        told: dict[str, Any] = {"code": gone.code, "message": gone.message, "retryable": False}
        frame = {"type": "error", "id": None, "sub": sub, **told}
        await self._send(msgspec.json.encode(frame).decode())

    async def close(self) -> None:
        """End all of them."""
        tasks = [following.task for following in self._open.values() if following.task]
        self._open.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, sub: str, task: asyncio.Task[None]) -> None:
        following = self._open.get(sub)
        if following is None or following.task is not task:
            return
        del self._open[sub]
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        if following.opened.done():
            self._failed(error)
        else:
            following.opened.set_exception(error)

    async def _run(self, following: Following, spec: SubscribeSpec, go: asyncio.Event) -> None:
        """Follow the run and send what comes, until its end or the subscription's."""
        face = FACES[spec.face]
        view = View(spec.sub, spec.filter.build(), spec.locale)
        async with self._runtime.hub.watch(following.run) as feed:
            head = await self._runtime.readers.run(log.head, following.run)
            start = resolve(spec.cursor, head)
            following.feed = feed
            following.opened.set_result(
                {"cursor": f"{head.epoch}:{start.after}", "head": head.cursor}
            )
            await go.wait()
            after = start.after
            if start.gap:
                gap = {
                    "type": "gap",
                    "sub": spec.sub,
                    "reason": start.gap,
                    "have": spec.cursor,
                    "oldest": f"{head.epoch}:0",
                    "head": head.cursor,
                }
                await self._send(msgspec.json.encode(gap).decode())
            if start.gap or spec.snapshot:
                after = await self._snapshot(feed, spec.sub)
            async for item in follow(feed, after, face, view, following.flow):
                if isinstance(item, Complete):
                    done = {
                        "type": "complete",
                        "sub": spec.sub,
                        "cursor": item.cursor,
                        "status": item.status,
                    }
                    await self._send(msgspec.json.encode(done).decode())
                else:
                    await self._send(item.text)

    async def _snapshot(self, feed: Feed, sub: str) -> int:
        """Send the folded state, and return the place in the log that it stands for."""
        state = await feed.state()
        cursor = f"{feed.epoch}:{state.seq}"
        frame = {"type": "snapshot", "sub": sub, "cursor": cursor, "state": state}
        await self._send(msgspec.json.encode(frame).decode())
        return int(state.seq)
