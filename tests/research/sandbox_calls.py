"""What the tests of the sandbox let run in it, well and badly."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from research.library.unreadable import Unreadable

SEEN: list[str] = []


@dataclass(frozen=True)
class Pair:
    """A value with a type."""

    name: str
    numbers: tuple[int, ...]
    data: bytes = b""


class Unnamed(Exception):
    """An exception that nobody outside expects."""


def echo(pair: Pair, more: list[Pair]) -> Pair:
    assert all(isinstance(each, Pair) for each in (pair, *more))
    return Pair(pair.name * 2, (*pair.numbers, *(len(each.data) for each in more)), pair.data)


def remember(word: str) -> list[str]:
    SEEN.append(word)
    return SEEN


def process() -> tuple[int, int]:
    return os.getpid(), os.getppid()


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def compute() -> None:
    while True:
        pass


def eat(n_bytes: int) -> int:
    whole: list[bytes] = []
    while len(whole) * 10_000_000 < n_bytes:
        whole.append(b"x" * 10_000_000)
    return len(whole)


def large(n_bytes: int) -> bytes:
    return bytes(n_bytes)


def unreadable(code: str) -> None:
    raise Unreadable(code, "12")


def unnamed() -> None:
    raise Unnamed("secret of the page")


def recurse(n: int) -> int:
    return recurse(n + 1) + 1


def leave(status: int) -> None:
    os._exit(status)


def crash() -> None:
    ctypes.string_at(0)


def abort() -> None:
    os.abort()


def chatter() -> str:
    sys.stdout.write("x" * 1_000_000)
    sys.stderr.write("y" * 1_000_000)
    sys.stdout.flush()
    return sys.stdin.read()


def hold_the_pipe() -> int:
    """Leave a process behind that holds the pipe open."""
    pid = os.fork()
    if pid == 0:
        time.sleep(600)
        os._exit(0)
    return pid


def close_and_stay() -> None:
    os.closerange(3, 64)
    time.sleep(600)


def kill_the_keeper() -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)


def environment() -> dict[str, str]:
    return dict(os.environ)


def connect(address: str, port: int) -> str:
    try:
        socket.create_connection((address, port), timeout=2).close()
    except OSError as error:
        return type(error).__name__
    return "connected"


def write(path: str) -> str:
    try:
        Path(path).write_text("x" * 100)
    except OSError as error:
        return type(error).__name__
    return "written"


def descriptors() -> list[str]:
    links = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # that of the listing itself
            links.append(os.readlink(f"/proc/self/fd/{name}"))
    return links
