"""Fixtures of a run: who asks, what can be found, the machinery, and steps to take by hand."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connections

from research.actions import plan as plan_actions
from research.actions import works
from research.actions.works import Claimed
from research.engine.boot import House
from research.engine.work import apply, start_run
from research.library.add import add_path
from research.models import Collection, Run
from research.options import RunOptions
from research.team.plan import PlannedTask
from streaming import log
from streaming.events import Event, decode

from .scripts import Script

T = TypeVar("T")

TOPIC = "How do lighthouses warn ships, and who keeps them?"
PAGES = {
    "lamps.md": (
        "# Lamps\n\n## Light\n\nA lighthouse warns ships with a lamp behind a Fresnel lens. "
        "The lens was first used in 1823 at Cordouan. "
        "Each lighthouse flashes in a rhythm of its own, so that a ship can tell it by its light."
        "\n\n## Sound\n\nIn fog a lighthouse warns ships with a horn. "
        "The horn of Sumburgh was the last one in Scotland.\n"
    ),
    "keepers.md": (
        "# Keepers\n\n## Duties\n\nA keeper of a lighthouse trims the wick and winds the clock. "
        "Most lighthouses have had no keepers since 1998, when the last one was automated.\n"
    ),
    "ships.md": "# Ships\n\nA pilot boards ships outside the harbour and knows every rock.\n",
}


@pytest.fixture
def data_dir(tmp_path: Path, settings: Any) -> Path:
    """A data directory of the test's own: indexes and the engine's lock."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    path: Path = settings.DATA_DIR
    return path


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("ann")


@pytest.fixture
def rival(db: None) -> User:
    return User.objects.create_user("bob")


@pytest.fixture
def collection(user: User, data_dir: Path, tmp_path: Path) -> Collection:
    """Three short pages, readable by the user alone."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    report = add_path(folder, "lighthouses", user)
    return Collection.objects.get(pk=report.collection_id)


@pytest.fixture
def script(tmp_path: Path, settings: Any) -> Script:
    """The script that the run's models play."""
    made = Script(tmp_path / "script")
    settings.RESEARCH_MODEL = made.model
    return made


@pytest.fixture
async def house(transactional_db: None, data_dir: Path) -> AsyncIterator[House]:
    """The machinery of a server process, on a data directory of its own."""
    loop, threads = asyncio.get_running_loop(), 2
    pool = ThreadPoolExecutor(threads)
    loop.set_default_executor(pool)  # whose connections to the database can be closed
    made = House()
    await made.start()
    yield made
    await made.stop()
    gate = threading.Barrier(threads)
    await asyncio.gather(*(loop.run_in_executor(pool, _close, gate) for _ in range(threads)))


def _close(gate: threading.Barrier) -> None:
    connections.close_all()
    gate.wait(10)


class Lab:
    """What a test does with a house: ask, wait, look."""

    def __init__(self, house: House, user: User) -> None:
        self.house = house
        self.user = user

    async def db(self, function: Callable[..., T], *args: Any) -> T:
        """Run a function that queries."""
        return await self.house.runtime.readers.run(function, *args)

    async def ask(self, topic: str = TOPIC, **options: Any) -> UUID:
        """Start a run."""
        started = await self.db(start_run, self.user, topic, RunOptions(**options))
        return started.run.pk  # type: ignore[no-any-return]

    async def events(self, run_id: UUID) -> list[Event]:
        return await self.db(events_of, run_id)

    async def until(self, run_id: UUID, holds: Callable[[list[Event]], bool]) -> list[Event]:
        """Wait until the log is as it should be, and return it."""
        async with asyncio.timeout(30):
            while not holds(events := await self.events(run_id)):
                await asyncio.sleep(0.02)
        return events

    async def end(self, run_id: UUID) -> tuple[Run, list[Event]]:
        """Wait for the end of a run."""
        events = await self.until(run_id, lambda events: events[-1].type in ENDS)
        return await self.db(lambda: Run.objects.get(pk=run_id)), events

    async def research(self, topic: str = TOPIC, **options: Any) -> tuple[Run, list[Event]]:
        """Carry a run from its start to its end."""
        return await self.end(await self.ask(topic, **options))


ENDS = ("run.completed", "run.failed", "run.cancelled")


@pytest.fixture
def lab(house: House, user: User) -> Lab:
    return Lab(house, user)


def events_of(run_id: UUID) -> list[Event]:
    """Return the whole log of a run."""
    return [decode(record.text) for record in log.read_after(run_id, 0, 1_000_000)]


class Steps:
    """A run that is carried by hand, action by action, as an engine would."""

    def __init__(self, user: User, **options: Any) -> None:
        self.run = start_run(user, TOPIC, RunOptions(**options)).run

    @property
    def id(self) -> UUID:
        run_id: UUID = self.run.pk
        return run_id

    def row(self) -> Run:
        return Run.objects.get(pk=self.id)

    def events(self) -> list[Event]:
        return events_of(self.id)

    def types(self) -> list[str]:
        return [event.type for event in self.events()]

    def do(self, action: Any, claimed: Claimed | None = None) -> Any:
        """Apply an action, in the name of a claim if one is given."""
        return apply(self.id, action, claimed.claim if claimed else None).value

    def claim(self, name: str) -> Claimed:
        claimed = self.do(works.claim(name))
        assert isinstance(claimed, Claimed)
        return claimed

    def plan(self, *titles: str) -> list[Claimed]:
        """Plan tasks of these titles, and claim those that may begin."""
        claimed = self.claim("plan")
        tasks = [PlannedTask(title=title, query=title.lower()) for title in titles]
        self.do(plan_actions.propose("plan", tasks), claimed)
        return [self.claim(name) for name in self.queued()]

    def queued(self) -> list[str]:
        rows = self.run.works.filter(status="queued")
        return list(rows.values_list("name", flat=True))


@pytest.fixture
def steps(user: User) -> Steps:
    return Steps(user)
