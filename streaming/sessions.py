"""Sessions: who has a socket open here, and whether they may still be there.

One question for all of them every few seconds, to the database: so it does not matter which
process ended a session or revoked a token, and no bell has to be heard.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from uuid import UUID

from django.utils.module_loading import import_string

from .conf import Conf
from .principal import Principal
from .readers import Readers

logger = logging.getLogger(__name__)

View = tuple[int, UUID]
"""A user, and a run that is open before them."""
StillIn = Callable[[Collection[Principal]], Collection[Principal]]
StillVisible = Callable[[Collection[View]], Collection[View]]


@dataclass(frozen=True, slots=True, eq=False)
class Seat:
    """One open connection."""

    principal: Principal
    runs: Callable[[], Collection[UUID]]
    ended: Callable[[], None]
    hidden: Callable[[UUID], None]


class Sessions:
    """Ends the connections of this process whose session, token or right to see has ended."""

    def __init__(self, readers: Readers, conf: Conf) -> None:
        self._readers = readers
        self._every_s = conf.sessions_s
        self._still_in: StillIn = import_string(conf.still_in)
        self._still_visible: StillVisible = import_string(conf.still_visible)
        self._seats: set[Seat] = set()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to ask."""
        self._task = asyncio.create_task(self._ask_for_ever(), name="sessions")

    async def stop(self) -> None:
        """Ask no more."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @contextlib.contextmanager
    def seat(
        self,
        principal: Principal,
        runs: Callable[[], Collection[UUID]],
        ended: Callable[[], None],
        hidden: Callable[[UUID], None],
    ) -> Iterator[None]:
        """Call `ended` once the principal is out, and `hidden` for a run that is not theirs now.

        Both are called on the loop, and must not wait.
        """
        seat = Seat(principal, runs, ended, hidden)
        self._seats.add(seat)
        try:
            yield
        finally:
            self._seats.discard(seat)

    async def _ask_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            try:
                await self._ask()
            except Exception as error:  # the database is away: so is all that could be shown
                logger.warning("whose session has ended could not be asked: %s", error)

    async def _ask(self) -> None:
        open_now = {seat: set(seat.runs()) for seat in self._seats}
        if not open_now:
            return
        principals = {seat.principal for seat in open_now}
        views = {(seat.principal.user_id, run) for seat, runs in open_now.items() for run in runs}
        inside, visible = await self._readers.run(self._answers, principals, views)
        for seat, runs in open_now.items():
            if seat not in self._seats:
                continue
            if seat.principal not in inside:
                seat.ended()
                continue
            for run in runs:
                if (seat.principal.user_id, run) not in visible:
                    seat.hidden(run)

    def _answers(
        self, principals: set[Principal], views: set[View]
    ) -> tuple[Collection[Principal], Collection[View]]:
        return self._still_in(principals), self._still_visible(views) if views else ()
