"""The websocket, from hello to its close code."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any, Literal
from uuid import UUID, uuid4

import pytest

from streaming import commands, log
from streaming.commands import Answer, Command, Principal, SubscribeSpec
from streaming.events import Voice
from streaming.exceptions import Conflict
from streaming.models import Stream
from streaming.runtime import Runtime

from . import world
from .conftest import StartRuntime
from .logs import BOB, close, new_stream, stored, until, words, write
from .sockets import Socket, user

pytestmark = pytest.mark.both


async def opened(who: Any = None) -> Socket:
    socket = Socket(who=who or user())
    assert (await socket.open())["type"] == "hello"
    return socket


async def a_run(runtime: Runtime, *texts: str, closed: bool = False) -> UUID:
    stream_id = await runtime.readers.run(new_stream)
    if texts:
        await runtime.readers.run(write, stream_id, *texts)
    if closed:
        await runtime.readers.run(close, stream_id)
    return stream_id


async def head_of(runtime: Runtime, stream_id: UUID) -> log.Head:
    return await runtime.readers.run(log.head, stream_id)


# --- coming in ---------------------------------------------------------------------------------
async def test_hello_says_who_one_is_and_what_the_limits_are(runtime: Runtime) -> None:
    socket = Socket(who=user(name="ann"))
    hello = await socket.open()
    assert socket.accepted["subprotocol"] == "soundings.v1"
    assert hello["type"] == "hello"
    assert (hello["v"], hello["user"], hello["heartbeat_s"]) == (1, "ann", 20)
    assert hello["limits"]["message_bytes"] == 65_536
    assert hello["session"]
    await socket.disconnect()


async def test_a_client_that_asks_for_no_subprotocol_is_served_and_told_none(
    runtime: Runtime,
) -> None:
    socket = Socket(who=user(), subprotocols=())
    assert (await socket.open())["type"] == "hello"
    assert "subprotocol" not in socket.accepted
    await socket.disconnect()


async def test_a_client_that_speaks_only_other_subprotocols_is_closed_with_4406(
    runtime: Runtime,
) -> None:
    socket = Socket(who=user(), subprotocols=("graphql-ws", "soundings.v2"))
    error = await socket.open()
    assert error["code"] == "no_subprotocol"
    assert (await socket.close_code())[1] == 4406


@pytest.mark.parametrize(
    "who",
    [None, user(is_authenticated=False), user(is_active=False)],
    ids=["none", "anonymous", "inactive"],
)
async def test_nobody_comes_in_without_a_login(runtime: Runtime, who: Any) -> None:
    socket = Socket(who=who)
    error = await socket.open()
    assert error["type"] == "error"
    assert error["code"] == "not_logged_in"
    assert (await socket.close_code())[1] == 4401


async def test_a_token_opens_the_programs_door(runtime: Runtime) -> None:
    world.TOKENS["secret"] = Principal(7, "robot", "token")
    hello = await Socket.of_token("secret").open()
    assert hello["user"] == "robot"
    assert (await Socket.of_token("secret", "bearer").open())["type"] == "hello"


@pytest.mark.parametrize(
    ("token", "scheme"), [("wrong", "Bearer"), ("", "Bearer"), ("secret", "Basic"), ("secret", "")]
)
async def test_no_other_key_opens_it(runtime: Runtime, token: str, scheme: str) -> None:
    world.TOKENS["secret"] = Principal(7, "robot", "token")
    socket = Socket.of_token(token, scheme)
    assert (await socket.open())["code"] == "not_logged_in"
    assert (await socket.close_code())[1] == 4401


async def test_a_session_does_not_open_the_programs_door(runtime: Runtime) -> None:
    from streaming.consumers import ApiConsumer

    socket = Socket(ApiConsumer.as_asgi(), who=user())
    assert (await socket.open())["code"] == "not_logged_in"


async def test_a_server_that_is_not_ready_says_come_back() -> None:
    socket = Socket(who=user())
    error = await socket.open()
    assert error["code"] == "restarting"
    assert error["retryable"]
    assert (await socket.close_code())[1] == 4412


async def test_a_server_that_stops_says_so_before_it_closes(start_runtime: StartRuntime) -> None:
    runtime = await start_runtime()
    run = await a_run(runtime, "a")
    socket = await opened()
    await socket.ask("subscribe", sub="s1", run=str(run))
    await socket.frame_of("events")
    runtime.stopping.set()
    error, code = await socket.close_code()
    assert error["code"] == "restarting"
    assert error["retryable"]
    assert code == 4412


# --- following ---------------------------------------------------------------------------------
async def test_a_run_is_followed_from_its_start_to_its_end(runtime: Runtime) -> None:
    run = await a_run(runtime, "a", "b")
    head = await head_of(runtime, run)
    socket = await opened()
    ack = await socket.ask("subscribe", id=5, sub="s1", run=str(run))
    assert ack == {
        "type": "ack",
        "id": 5,
        "sub": "s1",
        "run": str(run),
        "state": "running",
        "cursor": f"{head.epoch}:0",
        "head": f"{head.epoch}:2",
    }
    frame = await socket.frame()
    assert (frame["type"], frame["sub"], frame["after"], frame["upto"]) == ("events", "s1", 0, 2)
    await runtime.readers.run(write, run, "c")
    assert words((await socket.frame())["events"]) == ["c"]
    await runtime.readers.run(close, run)
    last, complete = await socket.frames_until("complete")
    assert last["events"][0]["type"] == "run.completed"
    assert complete == {
        "type": "complete",
        "sub": "s1",
        "cursor": f"{head.epoch}:4",
        "status": "completed",
    }
    assert await socket.ask("subscribe", sub="s1", run=str(run))  # its name is free again
    await socket.disconnect()


async def test_native_sockets_get_the_very_text_that_is_stored(runtime: Runtime) -> None:
    run = await a_run(runtime, '字 🦀 \\ " \u2028', closed=True)
    socket = await opened()
    await socket.ask("subscribe", sub="s1", run=str(run))
    message = await socket.message()
    records = await runtime.readers.run(log.read_after, run, 0)
    texts = ",".join(record.text for record in records)
    assert (
        message["text"] == f'{{"type":"events","sub":"s1","after":0,"upto":2,"events":[{texts}]}}'
    )


@pytest.mark.parametrize(
    ("cursor", "after"), [("start", 0), ("tail", 3), (":0", 0), (":2", 2), (":3", 3)]
)
async def test_a_cursor_says_from_where(runtime: Runtime, cursor: str, after: int) -> None:
    run = await a_run(runtime, "a", "b", "c")
    epoch = (await head_of(runtime, run)).epoch
    socket = await opened()
    given = epoch + cursor if cursor.startswith(":") else cursor
    ack = await socket.ask("subscribe", sub="s1", run=str(run), cursor=given)
    assert ack["cursor"] == f"{epoch}:{after}"
    await runtime.readers.run(write, run, "d")
    got: list[dict[str, Any]] = []
    while len(got) < 4 - after:
        frame = await socket.frame()
        assert frame["after"] == after + len(got)
        got += frame["events"]
    assert words(got) == ["a", "b", "c", "d"][after:]
    await socket.disconnect()


@pytest.mark.parametrize("reason", ["epoch_changed", "cursor_ahead"])
async def test_after_a_gap_comes_a_snapshot_and_then_the_tail(
    runtime: Runtime, reason: str
) -> None:
    run = await a_run(runtime, "a", "b")
    epoch = (await head_of(runtime, run)).epoch
    have = "e0:1" if reason == "epoch_changed" else f"{epoch}:99"
    socket = await opened()
    ack = await socket.ask("subscribe", sub="s1", run=str(run), cursor=have)
    assert ack["cursor"] == f"{epoch}:2"
    assert await socket.frame() == {
        "type": "gap",
        "sub": "s1",
        "reason": reason,
        "have": have,
        "oldest": f"{epoch}:0",
        "head": f"{epoch}:2",
    }
    snapshot = await socket.frame()
    assert (snapshot["type"], snapshot["cursor"]) == ("snapshot", f"{epoch}:2")
    assert snapshot["state"]["seq"] == 2
    texts = [json.loads(text) for text in snapshot["state"]["texts"]]
    assert texts == await runtime.readers.run(stored, run)
    await runtime.readers.run(write, run, "c")
    frame = await socket.frame()
    assert (frame["after"], words(frame["events"])) == (2, ["c"])
    await socket.disconnect()


async def test_a_snapshot_that_is_asked_for_comes_before_what_follows_it(
    runtime: Runtime,
) -> None:
    run = await a_run(runtime, "a", "b", "c", closed=True)
    socket = await opened()
    await socket.ask("subscribe", sub="s1", run=str(run), snapshot=True)
    snapshot, complete = await socket.frames_until("complete")
    assert snapshot["state"]["seq"] == 4
    assert complete["cursor"] == snapshot["cursor"]


@pytest.mark.parametrize("cursor", ["e7", "e7:x", "", "now"])
async def test_what_is_no_cursor_is_an_error_and_no_subscription(
    runtime: Runtime, cursor: str
) -> None:
    run = await a_run(runtime, "a")
    socket = await opened()
    error = await socket.ask("subscribe", sub="s1", run=str(run), cursor=cursor)
    assert (error["type"], error["code"]) == ("error", "bad_cursor")
    assert (await socket.ask("subscribe", sub="s1", run=str(run)))["type"] == "ack"
    await socket.disconnect()


async def test_a_filter_shows_what_it_says(runtime: Runtime) -> None:
    run = await a_run(runtime, "a")
    await runtime.readers.run(lambda: write(run, "b", voice=BOB))
    await runtime.readers.run(lambda: write(run, "c", voice=Voice(source_member="ann")))
    await runtime.readers.run(close, run)
    socket = await opened()
    filter = {"source_member": ["ann"], "stream_token": ["task_1", "task_2"]}
    await socket.ask("subscribe", sub="s1", run=str(run), filter=filter)
    frames = await socket.frames_until("complete")
    assert words([event for frame in frames[:-1] for event in frame["events"]]) == ["a"]
    assert frames[-2]["upto"] == 4


async def test_one_socket_follows_several_runs_and_one_run_twice(runtime: Runtime) -> None:
    one, other = await a_run(runtime, "a"), await a_run(runtime, "b")
    socket = await opened()
    for sub, run in (("s1", one), ("s2", other), ("s3", one)):
        assert (await socket.ask("subscribe", sub=sub, run=str(run)))["type"] == "ack"
    await runtime.readers.run(write, one, "a2")
    await runtime.readers.run(close, one)
    await runtime.readers.run(close, other)
    got: dict[str, list[str]] = {"s1": [], "s2": [], "s3": []}
    done = 0
    while done < 3:
        frame = await socket.frame()
        if frame["type"] == "events":
            got[frame["sub"]] += words(frame["events"])
        done += frame["type"] == "complete"
    # the first frames may have been passed over while waiting for an ack
    assert got["s3"] == ["a", "a2"]
    assert got["s1"][-1:] == ["a2"]
    assert set(got["s2"]) <= {"b"}


async def test_a_name_is_used_once_at_a_time(runtime: Runtime) -> None:
    run = await a_run(runtime)
    socket = await opened()
    assert (await socket.ask("subscribe", sub="s1", run=str(run)))["type"] == "ack"
    error = await socket.ask("subscribe", sub="s1", run=str(run))
    assert (error["code"], error["retryable"]) == ("sub_in_use", False)
    assert (await socket.ask("unsubscribe", sub="s1")) == {"type": "ack", "id": 3, "sub": "s1"}
    assert (await socket.ask("subscribe", sub="s1", run=str(run)))["type"] == "ack"
    await runtime.readers.run(write, run, "once")
    assert words((await socket.frame())["events"]) == ["once"]
    with pytest.raises(TimeoutError):  # and the one that ended says nothing any more
        await socket.frame(0.1)
    await socket.disconnect()


async def test_what_was_unsubscribed_is_not_sent_any_more(runtime: Runtime) -> None:
    run = await a_run(runtime)
    socket = await opened()
    await socket.ask("subscribe", sub="s1", run=str(run))
    await socket.ask("unsubscribe", sub="s1")
    await runtime.readers.run(write, run, "late")
    with pytest.raises(TimeoutError):
        await socket.frame(0.1)
    error = await socket.ask("unsubscribe", sub="s1")
    assert error["code"] == "bad_request"
    await socket.disconnect()


async def test_a_socket_holds_so_many_subscriptions_and_no_more(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(SUBSCRIPTIONS=3)
    run = await a_run(runtime)
    socket = await opened()
    for number in range(3):
        await socket.ask("subscribe", sub=f"s{number}", run=str(run))
    error = await socket.ask("subscribe", sub="s3", run=str(run))
    assert (error["code"], error["retryable"]) == ("too_many", True)
    await socket.ask("unsubscribe", sub="s0")
    assert (await socket.ask("subscribe", sub="s3", run=str(run)))["type"] == "ack"
    await socket.disconnect()


async def test_a_run_of_somebody_else_answers_as_one_that_does_not_exist(
    runtime: Runtime,
) -> None:
    run, nowhere = await a_run(runtime, "secret"), uuid4()
    world.HIDDEN.add((2, run))
    socket = await opened(user(2, "bob"))
    answers = [await socket.ask("subscribe", id=9, sub="s1", run=str(id)) for id in (run, nowhere)]
    assert answers[0] == answers[1]
    assert answers[0]["code"] == "not_found"
    await runtime.readers.run(write, run, "more")
    with pytest.raises(TimeoutError):
        await socket.frame(0.1)
    ann = await opened(user(1, "ann"))
    assert (await ann.ask("subscribe", sub="s1", run=str(run)))["type"] == "ack"
    await socket.disconnect()
    await ann.disconnect()


# --- flow control ------------------------------------------------------------------------------
async def test_the_window_holds_until_it_is_acknowledged(runtime: Runtime) -> None:
    run = await a_run(runtime, *map(str, range(50)))
    epoch = (await head_of(runtime, run)).epoch
    socket = await opened()
    await socket.ask("subscribe", sub="s1", run=str(run), window=10)
    got: list[str] = []
    while len(got) < 50:
        frame = await socket.frame()
        got += words(frame["events"])
        assert len(frame["events"]) <= 10
        if len(got) % 10 == 0:
            for wrong in ("e0:999", f"{epoch}:0"):  # another history, and nothing new
                socket.tell("credit", sub="s1", cursor=wrong)
            socket.tell("credit", sub="nobody", cursor=f"{epoch}:999")
            with pytest.raises(TimeoutError):
                await socket.frame(0.05)
            socket.tell("credit", sub="s1", cursor=f"{epoch}:{frame['upto']}")
    assert got == [str(number) for number in range(50)]
    await socket.disconnect()


async def test_who_acknowledges_nothing_is_closed_with_4408_and_comes_back_with_its_cursor(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(SLOW_S=0.15)
    run = await a_run(runtime, *map(str, range(20)))
    epoch = (await head_of(runtime, run)).epoch
    socket = await opened()
    await socket.ask("subscribe", sub="s1", run=str(run), window=5)
    first = await socket.frame()
    error, code = await socket.close_code()
    assert (error["type"], error["code"], error["retryable"]) == ("error", "slow_consumer", True)
    assert code == 4408
    again = await opened()
    cursor = f"{epoch}:{first['upto']}"
    await again.ask("subscribe", sub="s1", run=str(run), cursor=cursor)
    frame = await again.frame()
    assert words(first["events"]) + words(frame["events"]) == [str(i) for i in range(20)]
    await again.disconnect()


async def test_a_socket_that_takes_nothing_delays_no_other_and_is_held_to_little(
    runtime: Runtime,
) -> None:
    run = await a_run(runtime)
    stuck, other = await opened(), await opened()
    for socket in (stuck, other):
        await socket.ask("subscribe", sub="s1", run=str(run))
    stuck.reads.clear()
    for number in range(100):
        await runtime.readers.run(write, run, f"{number}" * 100)
    await runtime.readers.run(close, run)
    frames = await other.frames_until("complete")
    assert len(words([event for frame in frames[:-1] for event in frame["events"]])) == 100
    assert stuck.outbox.empty()
    await stuck.disconnect()
    await other.disconnect()


async def test_a_client_that_goes_away_leaves_no_feed_and_no_task_behind(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    run = await a_run(runtime)
    before = len(asyncio.all_tasks())
    sockets = [await opened() for _ in range(5)]
    for socket in sockets:
        await socket.ask("subscribe", sub="s1", run=str(run))
    assert runtime.hub._feeds
    for socket in sockets:
        await socket.disconnect()
    await until(lambda: len(asyncio.all_tasks()) <= before)
    assert not runtime.hub._feeds
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_a_connection_that_breaks_while_something_is_sent_is_no_error_of_ours(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    run = await a_run(runtime)
    socket = await opened()
    await socket.ask("subscribe", sub="s1", run=str(run))
    socket.broken = True
    await runtime.readers.run(write, run, "x")
    async with asyncio.timeout(5):
        await socket.task
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


# --- small talk --------------------------------------------------------------------------------
async def test_a_ping_is_answered_by_its_id(runtime: Runtime) -> None:
    socket = await opened()
    assert await socket.ask("ping", id=0) == {"type": "pong", "id": 0}
    await socket.disconnect()


async def test_a_heartbeat_tells_where_every_followed_log_stands(
    start_runtime: StartRuntime,
) -> None:
    runtime = await start_runtime(HEARTBEAT_S=0.05)
    run = await a_run(runtime, "a", "b")
    cursor = (await head_of(runtime, run)).cursor
    socket = await opened()
    assert await socket.frame() == {"type": "heartbeat", "heads": {}}
    await socket.ask("subscribe", sub="s1", run=str(run), filter={"source_member": ["nobody"]})
    while not (beat := await socket.frame_of("heartbeat"))["heads"]:
        pass
    assert beat == {"type": "heartbeat", "heads": {"s1": cursor}}
    await socket.disconnect()


# --- commands of an application ----------------------------------------------------------------
class Begin(Command):
    type: Literal["begin"]
    subscribe: SubscribeSpec | None = None
    wait: float = 0
    fail: str = ""


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Register a command that makes a run, and tell of its beginning and end."""
    monkeypatch.setattr(commands, "REGISTRY", {})
    order: list[tuple[str, int]] = []

    async def begin(runtime: Runtime, principal: Principal, command: Begin) -> Answer:
        order.append(("begins", command.id))
        await asyncio.sleep(command.wait)
        order.append(("ends", command.id))
        if command.fail == "conflict":
            raise Conflict("Not now.", code="not_running")
        if command.fail:
            raise ZeroDivisionError("secret detail")
        stream = await runtime.readers.run(lambda: Stream.objects.create())
        await runtime.readers.run(write, stream.pk, "first")
        return Answer({"run": str(stream.pk), "by": principal.username, "applied_seq": 1})

    commands.register(Begin, begin)
    return order


async def test_a_run_is_begun_and_followed_by_one_command_from_its_first_event(
    runtime: Runtime, begun: list[tuple[str, int]]
) -> None:
    socket = await opened()
    ack = await socket.ask("begin", subscribe={"sub": "s2"})
    assert (ack["type"], ack["sub"], ack["by"], ack["applied_seq"]) == ("ack", "s2", "ann", 1)
    assert UUID(ack["run"])
    assert words((await socket.frame())["events"]) == ["first"]
    assert (await socket.ask("begin"))["type"] == "ack"
    await socket.disconnect()


async def test_nothing_is_begun_that_could_not_be_followed(
    runtime: Runtime, begun: list[tuple[str, int]]
) -> None:
    socket = await opened()
    await socket.ask("begin", subscribe={"sub": "s2"})
    begun.clear()
    error = await socket.ask("begin", subscribe={"sub": "s2"})
    assert error["code"] == "sub_in_use"
    assert not begun
    await socket.disconnect()


async def test_commands_of_a_socket_are_carried_out_one_after_the_other(
    runtime: Runtime, begun: list[tuple[str, int]]
) -> None:
    socket = await opened()
    for id, wait in ((1, 0.05), (2, 0.0), (3, 0.02)):
        socket.tell("begin", id=id, wait=wait)
    socket.tell("ping", id=4)
    answers = [(await socket.frame())["id"] for _ in range(4)]
    assert answers == [1, 2, 3, 4]
    assert begun == [(what, id) for id in (1, 2, 3) for what in ("begins", "ends")]
    await socket.disconnect()


async def test_more_commands_than_the_queue_holds_wait_and_none_is_lost(
    start_runtime: StartRuntime, begun: list[tuple[str, int]]
) -> None:
    await start_runtime(COMMAND_QUEUE=4)
    socket = await opened()
    socket.tell("begin", id=0, wait=0.05)
    for id in range(1, 40):
        socket.tell("ping", id=id)
    assert [(await socket.frame())["id"] for _ in range(40)] == list(range(40))
    await socket.disconnect()


async def test_an_error_of_a_command_is_told_by_its_code_and_the_socket_lives(
    runtime: Runtime, begun: list[tuple[str, int]]
) -> None:
    socket = await opened()
    error = await socket.ask("begin", fail="conflict")
    assert (error["code"], error["message"], error["retryable"]) == (
        "not_running",
        "Not now.",
        False,
    )
    assert (await socket.ask("ping"))["type"] == "pong"
    await socket.disconnect()


async def test_a_bug_in_a_command_tells_the_client_an_id_and_the_log_the_rest(
    runtime: Runtime, begun: list[tuple[str, int]], caplog: pytest.LogCaptureFixture
) -> None:
    socket = await opened()
    error = await socket.ask("begin", fail="bug")
    assert error["code"] == "internal"
    assert "secret" not in error["message"]
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    error_id = error["message"].partition("(")[2].partition(")")[0]
    assert error_id in record.getMessage()
    assert (await socket.ask("ping"))["type"] == "pong"
    await socket.disconnect()
