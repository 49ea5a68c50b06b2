"""LocalEngine: carries work as tasks on the loop of this process.

A lock on a file lets one process of a machine do it; when that one dies, the next takes the lock,
takes its work over, and goes on.
"""

from __future__ import annotations

import asyncio
import contextvars
import fcntl
import logging
import os
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from research.actions import runs, works
from research.models import Run, RunStatus, Work, WorkStatus
from streaming.exceptions import LogError
from streaming.runtime import Runtime

from . import epoch, perform
from .work import apply, news

logger = logging.getLogger(__name__)

LOOK_S = 0.5  # how often the database is asked, besides at each bell
STOP_S = 1.5  # how long a cancelled run's tasks may take to end
TOGETHER = 64  # works that are carried side by side
STOPPING = (RunStatus.CANCELLING, RunStatus.FINISHING)


class LocalEngine:
    """The default engine: embedded in the server."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._path = Path(settings.DATA_DIR) / "engine.lock"
        self._lock: int | None = None
        self._bell = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._main: asyncio.Task[None] | None = None
        self._carried: dict[UUID, dict[str, asyncio.Task[None]]] = defaultdict(dict)
        self._stopping: dict[UUID, asyncio.Task[None]] = {}

    @property
    def leading(self) -> bool:
        """Tell whether this process holds the lock."""
        return self._lock is not None

    # --- its life ------------------------------------------------------------------------------
    async def start(self) -> None:
        """Begin to look for work."""
        news.connect(self._ring)
        self._main = asyncio.create_task(self._run(), name="engine", context=contextvars.Context())

    async def stop(self) -> None:
        """End every task, then let go of the lock: the next process takes the work over."""
        news.disconnect(self._ring)
        tasks = [task for carried in self._carried.values() for task in carried.values()]
        tasks += [*self._stopping.values(), *([self._main] if self._main else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _ring(self, **kwargs: Any) -> None:
        """Wake the engine, from whatever thread committed."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._bell.set)

    # --- the loop ------------------------------------------------------------------------------
    async def _run(self) -> None:
        while True:
            try:
                if self._lock is None and await asyncio.to_thread(self._try_lock):
                    await self._recover()
                if self._lock is not None:
                    self._bell.clear()
                    await self._look()
            except Exception:
                logger.exception("the engine stumbled, and looks again")
                await asyncio.sleep(LOOK_S)
            try:
                async with asyncio.timeout(LOOK_S):
                    await self._bell.wait()
            except TimeoutError:
                pass

    def _try_lock(self) -> bool:
        lock = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return False
        self._lock = lock
        return True

    async def _recover(self) -> None:
        """Look to the logs before the first work: the machine may have lost its power."""
        await self._runtime.writer.call(partial(epoch.renew_after_power_loss, self._path.parent))

    async def _look(self) -> None:
        """Take over what nobody carries, stop what is to be stopped, carry what is queued."""
        queued, stopping, running = await self._runtime.readers.run(_due)
        for run_id, name in running:
            if name not in self._carried.get(run_id, {}):
                await self._take_over(run_id, name)
        for run_id in stopping:
            if run_id not in self._stopping:
                self._stopping[run_id] = self._spawn(self._stop(run_id), f"stop {run_id}")
        under_way = sum(len(carried) for carried in self._carried.values())
        for run_id, name in queued:
            if under_way >= TOGETHER:
                return
            if name in self._carried[run_id] or run_id in self._stopping:
                continue
            task = self._spawn(self._carry(run_id, name), f"{name} of {run_id}")
            self._carried[run_id][name] = task
            under_way += 1

    async def _take_over(self, run_id: UUID, name: str) -> None:
        """Queue work again that a process left which is gone: this one has the lock now."""
        logger.info("taking over %s of %s", name, run_id)
        try:
            await self._runtime.writer.call(partial(apply, run_id, works.take_over(name)))
        except Exception:  # one run must not keep the others from going on
            logger.exception("%s of %s could not be taken over", name, run_id)

    def _spawn(self, coroutine: Any, name: str) -> asyncio.Task[None]:
        # A context of its own: the caller's would carry a request's thread along.
        return asyncio.create_task(coroutine, name=name, context=contextvars.Context())

    async def _carry(self, run_id: UUID, name: str) -> None:
        try:
            claimed = await perform.claim(self._runtime, run_id, name)
            if claimed:
                await perform.perform(self._runtime, claimed)
        except Exception:
            logger.exception("%s of %s could not be carried out", name, run_id)
        finally:
            self._carried[run_id].pop(name, None)
            if not self._carried[run_id]:
                del self._carried[run_id]
            self._bell.set()

    async def _stop(self, run_id: UUID) -> None:
        """Stop the tasks of a run, then end it or have its report written, as was asked.

        Whoever does not stop in time writes no more.
        """
        try:
            if not await self._runtime.readers.run(_is_stopping, run_id):
                return  # it was stopped already when this was asked for
            tasks = list(self._carried.get(run_id, {}).values())
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=STOP_S)
            await self._runtime.writer.call(partial(apply, run_id, runs.stopped))
        except LogError as error:
            logger.warning("the stop of %s is not written yet: %s", run_id, error)
        finally:
            self._stopping.pop(run_id, None)
            self._bell.set()


Named = list[tuple[UUID, str]]


def _due() -> tuple[Named, list[UUID], Named]:
    """Return the queued work, the runs to be stopped, and the work that is under way.

    Work of a paused run stays queued; what of it still goes on is taken over as any other.
    """
    works = Work.objects.order_by("pk").values_list("run_id", "name")
    queued = works.filter(status=WorkStatus.QUEUED, run__status=RunStatus.RUNNING)
    carried = (RunStatus.RUNNING, RunStatus.PAUSED)
    running = works.filter(status=WorkStatus.RUNNING, run__status__in=carried)
    stopping = Run.objects.filter(status__in=STOPPING).values_list("pk", flat=True)
    return list(queued[: 4 * TOGETHER]), list(stopping), list(running)


def _is_stopping(run_id: UUID) -> bool:
    return Run.objects.filter(pk=run_id, status__in=STOPPING).exists()
