"""A socket lives no longer than the session, the token or the right that opened it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection
from typing import Any
from uuid import UUID

import pytest

from streaming.principal import Principal
from streaming.runtime import Runtime

from . import world
from .conftest import StartRuntime
from .logs import new_stream, words, write
from .sockets import Socket, user

SOON = 0.05


@pytest.fixture
async def runtime(start_runtime: StartRuntime) -> Runtime:
    return await start_runtime(SESSIONS_S=SOON)


async def following(runtime: Runtime, socket: Socket, *texts: str) -> UUID:
    """Open a socket and let it follow a run of its own."""
    run: UUID = await runtime.readers.run(new_stream)
    assert (await socket.open())["type"] == "hello"
    assert (await socket.ask("subscribe", sub="s1", run=str(run)))["type"] == "ack"
    for text in texts:
        await runtime.readers.run(write, run, text)
        assert words((await socket.frame())["events"]) == [text]
    return run


async def test_a_socket_whose_session_has_ended_is_closed_with_4419_and_hears_nothing_more(
    runtime: Runtime,
) -> None:
    socket, other = Socket(who=user(), session="gone"), Socket(who=user(), session="stays")
    run = await following(runtime, socket, "before")
    await following(runtime, other, "before")
    world.OUT.add("gone")
    error, code = await socket.close_code()
    assert (error["type"], error["id"], error["code"]) == ("error", None, "session_ended")
    assert not error["retryable"]
    assert code == 4419
    await runtime.readers.run(write, run, "after")
    with pytest.raises(TimeoutError):
        await socket.message(4 * SOON)
    assert await other.ask("ping") == {"type": "pong", "id": 2}
    await other.disconnect()


async def test_a_socket_whose_token_has_ended_is_closed_with_4419(runtime: Runtime) -> None:
    for name in ("a", "b"):
        world.TOKENS[name] = Principal(1, "ann", "token", key=name)
    one, other = Socket.of_token("a"), Socket.of_token("b")
    await following(runtime, one)
    await following(runtime, other)
    world.OUT.add("a")
    assert (await one.close_code())[1] == 4419
    assert (await other.ask("ping"))["type"] == "pong"
    await other.disconnect()


async def test_a_socket_that_follows_nothing_is_closed_too(runtime: Runtime) -> None:
    socket = Socket(who=user(), session="gone")
    await socket.open()
    world.OUT.add("gone")
    assert (await socket.close_code())[1] == 4419


async def test_a_reader_that_takes_nothing_is_ended_too_and_holds_up_no_other(
    runtime: Runtime,
) -> None:
    stuck, other = Socket(who=user(), session="a"), Socket(who=user(), session="b")
    run = await following(runtime, stuck)
    await following(runtime, other)
    stuck.reads.clear()
    await runtime.readers.run(write, run, "unread")
    world.OUT.update({"a", "b"})
    assert (await other.close_code())[1] == 4419
    stuck.reads.set()
    assert (await stuck.close_code())[1] == 4419


async def test_a_run_that_one_may_not_see_any_more_ends_its_subscriptions_and_nothing_else(
    runtime: Runtime,
) -> None:
    socket = Socket(who=user(1))
    run = await following(runtime, socket, "before")
    kept = await runtime.readers.run(new_stream)
    await socket.ask("subscribe", sub="s2", run=str(kept))
    await socket.ask("subscribe", sub="s3", run=str(run), cursor="tail")
    world.HIDDEN.add((1, run))
    gone = [await socket.frame(), await socket.frame()]
    assert {frame["sub"] for frame in gone} == {"s1", "s3"}
    for frame in gone:
        assert (frame["type"], frame["id"], frame["code"]) == ("error", None, "not_found")
    await runtime.readers.run(write, run, "after")
    await runtime.readers.run(write, kept, "still")
    frame = await socket.frame()
    assert (frame["sub"], words(frame["events"])) == ("s2", ["still"])
    with pytest.raises(TimeoutError):
        await socket.message(4 * SOON)
    # The names are free again, and the answer is that of a run that never was.
    refused = await socket.ask("subscribe", sub="s1", run=str(run))
    assert (refused["code"], refused["message"]) == ("not_found", gone[0]["message"])
    await socket.disconnect()


async def test_a_run_is_shut_to_one_and_open_to_another(runtime: Runtime) -> None:
    ann, bob = Socket(who=user(1)), Socket(who=user(2, "bob"))
    run = await following(runtime, ann)
    await bob.open()
    await bob.ask("subscribe", sub="s1", run=str(run))
    world.HIDDEN.add((2, run))
    assert (await bob.frame_of("error"))["sub"] == "s1"
    await runtime.readers.run(write, run, "for ann")
    assert words((await ann.frame())["events"]) == ["for ann"]
    await ann.disconnect()
    await bob.disconnect()


async def test_one_question_is_asked_for_all_sockets_off_the_loop(
    start_runtime: StartRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []

    def count(principals: Collection[Principal]) -> Collection[Principal]:
        asked.append((len(principals), threading.get_ident()))
        return principals

    monkeypatch.setattr(world, "still_in", count)
    await start_runtime(SESSIONS_S=SOON)
    sockets = [Socket(who=user(), session=f"s{number % 25}") for number in range(50)]
    for socket in sockets:
        await socket.open()
    asked.clear()
    await asyncio.sleep(6 * SOON)
    assert 1 <= len(asked) <= 6
    assert {many for many, _ in asked} == {25}  # each session once
    assert threading.get_ident() not in {thread for _, thread in asked}
    for socket in sockets:
        await socket.disconnect()
    await asyncio.sleep(2 * SOON)
    asked.clear()
    await asyncio.sleep(3 * SOON)
    assert asked == []  # nobody is here


async def test_a_database_that_is_away_ends_nobody_and_is_asked_again(
    start_runtime: StartRuntime, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def fail(principals: Collection[Principal]) -> Collection[Principal]:
        if len(failed) < 3:
            failed.append(1)
            raise OSError("away")
        return set()

    failed: list[int] = []
    monkeypatch.setattr(world, "still_in", fail)
    await start_runtime(SESSIONS_S=SOON)
    socket = Socket(who=user())
    await socket.open()
    assert (await socket.close_code())[1] == 4419
    assert len(failed) == 3
    assert "away" in caplog.text


# --- scopes --------------------------------------------------------------------------------------
async def test_a_token_that_may_not_read_runs_subscribes_to_none(runtime: Runtime) -> None:
    world.TOKENS["notes"] = Principal(1, "ann", "token", frozenset({"notes"}), key="1")
    run = await runtime.readers.run(new_stream)
    socket = Socket.of_token("notes")
    await socket.open()
    error = await socket.ask("subscribe", sub="s1", run=str(run))
    assert (error["type"], error["code"], error["retryable"]) == ("error", "forbidden_scope", False)
    assert await socket.ask("ping") == {"type": "pong", "id": 2}
    await socket.disconnect()
