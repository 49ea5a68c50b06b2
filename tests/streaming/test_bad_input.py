"""Whatever a client sends, it gets an answer, and at the fifth in a row the door."""

from __future__ import annotations

import json
import logging

import pytest

from streaming.runtime import Runtime

from .conftest import StartRuntime
from .sockets import Socket, user

BAD: dict[str, str | bytes] = {
    "nothing": "",
    "truncated": '{"type":"ping","id":1',
    "array": "[]",
    "null": "null",
    "number": "7",
    "string": '"ping"',
    "NaN": '{"type":"ping","id":NaN}',
    "infinity": '{"type":"ping","id":1e999}',
    "binary": b"\x00\xff",
    "binary json": b'{"type":"ping","id":1}',
    "deep": "[" * 30_000 + "]" * 30_000,
    "deep object": '{"type":' * 8_000,
    "too long": json.dumps({"type": "ping", "id": 1, "x": "x" * 65_536}),
    "too long in bytes": json.dumps(
        {"type": "ping", "id": 1, "x": "字" * 30_000}, ensure_ascii=False
    ),
    "lone surrogate": '{"type":"subscribe","id":1,"sub":"\\ud800","run":"x"}',
    "lone surrogate in a key": '{"type":"ping","\\ud800":1}',
    "lone surrogate as a type": '{"type":"\\ud800","id":1}',
    "lone surrogate in a filter": (
        '{"type":"subscribe","id":1,"sub":"s","run":"00000000-0000-0000-0000-000000000000",'
        '"filter":{"\\ud800":["x"]}}'
    ),
    "no id": '{"type":"ping"}',
    "id of no kind": '{"type":"ping","id":"1"}',
    "id too large": '{"type":"ping","id":' + "9" * 300 + "}",
    "id without end": '{"type":"ping","id":' + "9" * 6000 + "}",
    "negative id": '{"type":"ping","id":-1}',
    "no type": '{"id":1}',
    "unknown type": '{"type":"fly","id":1}',
    "type of no kind": '{"type":{"a":1},"id":1}',
    "prototype": '{"type":"__proto__","id":1}',
    "two objects": '{"type":"ping","id":1}{"type":"ping","id":2}',
    "credit without a cursor": '{"type":"credit","sub":"s1"}',
    "NUL": '\0{"type":"ping","id":1}',
}


@pytest.fixture
async def bare(start_without_database: StartRuntime) -> Runtime:
    return await start_without_database()


async def opened() -> Socket:
    socket = Socket(who=user())
    assert (await socket.open())["type"] == "hello"
    return socket


def send(socket: Socket, what: str | bytes) -> None:
    if isinstance(what, bytes):
        socket.binary(what)
    else:
        socket.text(what)


@pytest.mark.parametrize("kind", BAD)
async def test_a_message_that_makes_no_sense_is_answered_and_the_next_one_is_heard(
    bare: Runtime, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    socket = await opened()
    send(socket, BAD[kind])
    error = await socket.frame()
    assert error["type"] == "error"
    assert error["code"] == ("too_large" if kind.startswith("too long") else "bad_request")
    assert error["id"] in (None, 1)
    assert error["message"]
    assert not error["retryable"]
    assert await socket.ask("ping", id=2) == {"type": "pong", "id": 2}
    await socket.disconnect()
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_five_in_a_row_close_the_socket_with_4400(bare: Runtime) -> None:
    socket = await opened()
    for _ in range(5):
        send(socket, "{")
    frames = [await socket.frame() for _ in range(5)]
    assert {frame["code"] for frame in frames} == {"bad_request"}
    last, code = await socket.close_code()
    assert last["code"] == "bad_request"
    assert code == 4400


async def test_four_in_a_row_and_then_one_that_makes_sense_do_not(bare: Runtime) -> None:
    socket = await opened()
    for _ in range(3):
        for _ in range(4):
            send(socket, "{")
            assert (await socket.frame())["type"] == "error"
        assert (await socket.ask("ping"))["type"] == "pong"
    await socket.disconnect()


async def test_a_long_message_is_refused_by_its_bytes_and_not_by_its_letters(
    bare: Runtime,
) -> None:
    socket = await opened()
    fits = json.dumps({"type": "ping", "id": 1, "x": ""})
    socket.text(fits.replace('""', '"' + "x" * (65_536 - len(fits)) + '"'))
    assert (await socket.frame())["type"] == "pong"
    socket.text(fits.replace('""', '"' + "x" * (65_537 - len(fits)) + '"'))
    assert (await socket.frame())["code"] == "too_large"
    await socket.disconnect()


async def test_a_message_that_is_far_too_long_ends_the_socket_at_once(bare: Runtime) -> None:
    socket = await opened()
    socket.text("x" * (1024 * 1024 + 1))
    error, code = await socket.close_code()
    assert (error["code"], code) == ("too_large", 1009)
