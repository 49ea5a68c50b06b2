"""Hub: one per process. It hears what is committed, and wakes who follows it.

The writer of this process hands it committed batches; other processes ring through the channel
layer; a tick asks the database itself. Sockets are written by followers, outside of Channels'
dispatch, and no query runs in their path.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

from channels.layers import BaseChannelLayer

from . import groups, log
from .conf import Conf
from .feed import Feed, Fold
from .log import Batch
from .neighbours import Neighbours, neighbours
from .readers import Readers

logger = logging.getLogger(__name__)

REJOIN_TICKS = 10  # a restarted Redis has forgotten its groups, and says nothing


class Hub:
    """The runs that are watched in this process."""

    def __init__(self, layer: BaseChannelLayer, readers: Readers, conf: Conf, fold: Fold) -> None:
        self.readers = readers
        self.conf = conf
        self._layer = layer
        self._fold = fold
        self._feeds: dict[UUID, Feed] = {}
        self._doors: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()
        self._news: dict[UUID, tuple[int, set[str], set[str]]] = {}
        self._news_came = asyncio.Event()
        self._channel = ""
        self._neighbours_wrote = asyncio.Event()
        self._neighbours: Neighbours | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    # --- its life ------------------------------------------------------------------------------
    async def start(self) -> None:
        """Begin to listen: to commits of this process, to bells of others, to the clock."""
        self._loop = asyncio.get_running_loop()
        log.committed.connect(self._on_commit)
        self._neighbours = neighbours(self.conf.bell_poll_ms / 1000, self._on_neighbours)
        if self._neighbours:
            self._neighbours.start()
        self._tasks = [
            asyncio.create_task(self._send_bells(), name="hub-send"),
            asyncio.create_task(self._receive_bells(), name="hub-receive"),
            asyncio.create_task(self._tick(), name="hub-tick"),
        ]

    async def stop(self) -> None:
        """Stop to listen."""
        log.committed.disconnect(self._on_commit)
        if self._neighbours:
            await asyncio.to_thread(self._neighbours.stop)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for stream_id in list(self._feeds):
            await self._leave(stream_id)

    # --- who follows ---------------------------------------------------------------------------
    @asynccontextmanager
    async def watch(self, stream_id: UUID) -> AsyncIterator[Feed]:
        """Give the feed of a run for as long as it is watched. `NotFound` where there is no run."""
        lock = self._doors.setdefault(stream_id, asyncio.Lock())  # held here: else it may go
        async with lock:
            feed = self._feeds.get(stream_id) or await self._open(stream_id)
            feed.watchers += 1
        try:
            yield feed
        finally:
            feed.watchers -= 1
            async with lock:
                if not feed.watchers and stream_id in self._feeds:
                    del self._feeds[stream_id]
                    await self._leave(stream_id)

    async def _open(self, stream_id: UUID) -> Feed:
        """Join the group first and read the head after: what is between them rings."""
        await self._join(stream_id)
        head = await self.readers.run(log.head, stream_id)
        feed = Feed(stream_id, head, self.readers, self.conf, self._fold)
        self._feeds[stream_id] = feed
        # A commit may have come between the read and this line; ask once more now that we hear.
        feed.hear((await self.readers.run(log.head, stream_id)).seq)
        return feed

    # --- bells ---------------------------------------------------------------------------------
    def _on_commit(self, sender: Any, batch: Batch, **kwargs: Any) -> None:
        """Take a batch from whatever thread committed it."""
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._deliver, batch)

    def _on_neighbours(self) -> None:
        """Take the word of SQLite, on the thread that asks it, that somebody wrote."""
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._neighbours_wrote.set)

    def _deliver(self, batch: Batch) -> None:
        if feed := self._feeds.get(batch.stream_id):
            feed.add(batch)
        _, lanes, members = self._news.get(batch.stream_id, (0, set(), set()))
        lanes.update(record.stream_token for record in batch.records)
        members.update(record.source_member for record in batch.records)
        self._news[batch.stream_id] = (batch.upto, lanes, members)
        self._news_came.set()

    async def _send_bells(self) -> None:
        """Ring for what was committed here; news that comes meanwhile rings once."""
        while True:
            await self._news_came.wait()
            self._news_came.clear()
            news, self._news = self._news, {}
            for stream_id, (head, lanes, members) in news.items():
                message = groups.bell(stream_id, head)
                for group in groups.groups_of(stream_id, lanes, members):
                    try:
                        await self._layer.group_send(group, message)
                    except Exception as error:
                        logger.warning("the doorbell of %s did not ring: %s", stream_id, error)
                        break
            await asyncio.sleep(0)

    async def _receive_bells(self) -> None:
        while True:
            try:
                self._channel = await self._layer.new_channel("hub")
                for stream_id in list(self._doors):  # those that are just being opened, too
                    await self._join(stream_id)
                while True:
                    message = await self._layer.receive(self._channel)
                    if feed := self._feeds.get(UUID(message["run"])):
                        feed.hear(int(message["head"]))
            except Exception as error:
                logger.warning("bells cannot be heard, the tick goes on: %s", error)
                await asyncio.sleep(self.conf.tick_s)

    async def _tick(self) -> None:
        """Ask the database itself where the watched runs stand: a lost bell costs one tick."""
        ticks = 0
        while True:
            try:
                async with asyncio.timeout(self.conf.tick_s):
                    await self._neighbours_wrote.wait()
            except TimeoutError:
                ticks += 1
            self._neighbours_wrote.clear()
            live = [stream_id for stream_id, feed in self._feeds.items() if not feed.closed]
            if not live:
                continue
            try:
                for stream_id, head in (await self.readers.run(log.heads, live)).items():
                    if feed := self._feeds.get(stream_id):
                        feed.hear(head.seq)
            except Exception as error:
                logger.warning("the heads of runs could not be read: %s", error)
            if ticks and ticks % REJOIN_TICKS == 0:
                ticks = 0
                for stream_id in live:
                    await self._join(stream_id)

    async def _join(self, stream_id: UUID) -> None:
        if self._channel:
            try:
                await self._layer.group_add(groups.run_group(stream_id), self._channel)
            except Exception as error:
                logger.warning("the group of %s could not be joined: %s", stream_id, error)

    async def _leave(self, stream_id: UUID) -> None:
        if self._channel:
            with contextlib.suppress(Exception):  # a group that we stay in rings in vain
                await self._layer.group_discard(groups.run_group(stream_id), self._channel)
