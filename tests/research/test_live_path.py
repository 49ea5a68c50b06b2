"""What a watched run costs the database: as much for twenty watchers as for one."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db.backends.utils import CursorWrapper

from research.models import Run, RunStatus
from streaming import vocabulary as v
from streaming.events import Voice
from streaming.handler import StreamHandler
from streaming.members import Role
from streaming.models import Stream
from streaming.sinks import LogSink
from tests.streaming.sockets import Socket, user

from .conftest import Lab

EVENTS = 300


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Every statement, counted by the thread that it ran on."""
    counted: Counter[str] = Counter()
    execute = CursorWrapper.execute

    def counting(self: CursorWrapper, sql: Any, params: Any = None) -> Any:
        counted[threading.current_thread().name.split("_")[0]] += 1
        return execute(self, sql, params)

    monkeypatch.setattr(CursorWrapper, "execute", counting)
    return counted


def _run_of_nobody(owner: User) -> UUID:
    """Make a run with an open log that no engine carries."""
    stream = Stream.objects.create()
    Run.objects.create(stream=stream, user=owner, topic="why", status=RunStatus.CANCELLED)
    return stream.pk


async def _speak(lab: Lab, run_id: UUID) -> None:
    runtime = lab.house.runtime
    sink = LogSink(runtime.writer, run_id, runtime.conf)
    handler = StreamHandler(sink, voice=Voice("researcher-1", Role.TEAMMATE))
    await handler.say(v.RunStarted(topic="why"))
    for number in range(EVENTS):
        await handler.say(v.Status(message=f"{number}"))
        if number % 20 == 0:
            await handler.flush()
    await handler.say(v.RunCancelled())
    await handler.flush()


async def _watched_by(lab: Lab, face: str, watchers: int, statements: Counter[str]) -> int:
    """Return how many statements readers ran while a run was told to so many watchers."""
    run_id = await lab.db(_run_of_nobody, lab.user)
    sockets = [Socket(who=user(lab.user.pk, lab.user.username)) for _ in range(watchers)]
    for socket in sockets:
        await socket.open()
        answer = await socket.ask("subscribe", sub="s", run=str(run_id), face=face)
        assert answer["type"] == "ack", answer
    before = statements["reader"]
    await _speak(lab, run_id)
    for socket in sockets:
        await socket.frames_until("complete", seconds=20)
    spent = statements["reader"] - before
    for socket in sockets:
        await socket.disconnect()
    return spent


@pytest.mark.both
@pytest.mark.parametrize("face", ["native", "html"])
async def test_twenty_watchers_cost_the_database_as_much_as_one(
    lab: Lab, face: str, statements: Counter[str], settings: Any
) -> None:
    settings.STREAMING = {**settings.STREAMING, "TICK_S": 60, "SESSIONS_S": 60}
    one = await _watched_by(lab, face, 1, statements)
    twenty = await _watched_by(lab, face, 20, statements)
    assert twenty <= one + 3, (one, twenty)
    assert statements["reader"], "they are counted"
    assert statements["MainThread"] == 0, "nothing queries on the event loop"
