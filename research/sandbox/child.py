"""The keeper itself: `python -m research.sandbox.child`, with a socket as its standard input.

It never looks into what it is sent. Each call is carried out by a fork of it, which may not use
more than its limits, has no way out but one pipe, and ends with the call.
"""

from __future__ import annotations

import gc
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from . import confine, wire
from .carry import carry_out, function_of
from .limits import Limits, SandboxCode
from .wire import Answer, Request

_PIECE = 1 << 18


def serve(asked: socket.socket) -> None:
    """Answer requests until nobody is there to ask."""
    while (frame := wire.receive(asked)) is not None:
        request = msgspec.msgpack.decode(frame, type=Request)
        del frame
        wire.send(asked, _answer(request, asked))


def _answer(request: Request, asked: socket.socket) -> bytes:
    try:
        function = function_of(request.target)  # here, so that the next call finds it loaded
    except (ImportError, AttributeError) as error:
        return _failed("broken", repr(error))
    gc.collect()
    gc.freeze()  # what is loaded stays in memory that all calls share
    reads, writes = os.pipe()
    try:
        pid = os.fork()
    except OSError as error:
        os.close(reads)
        os.close(writes)
        return _failed("broken", repr(error))
    if pid == 0:
        _be_the_call(request, function, asked, writes)
    os.close(writes)
    try:
        return _result(pid, reads, request.limits)
    finally:
        os.close(reads)


def _be_the_call(
    request: Request, function: Callable[..., Any], asked: socket.socket, writes: int
) -> None:
    """Carry out the call in this process, and end it."""
    try:
        os.setpgid(0, 0)
        asked.close()
        confine.to(request.limits)
        with open(writes, "wb") as pipe:
            pipe.write(carry_out(function, request.args))
        os._exit(0)
    finally:
        os._exit(1)


def _result(pid: int, reads: int, limits: Limits) -> bytes:
    """Take what the process of a call writes, and see to it that the process ends."""
    deadline = time.monotonic() + limits.wall_s
    written = bytearray()
    poll = select.poll()
    poll.register(reads, select.POLLIN)
    late = large = False
    while not large:
        left = deadline - time.monotonic()
        late = left <= 0 or not poll.poll(left * 1000)
        piece = b"" if late else os.read(reads, _PIECE)
        if not piece:
            break
        written += piece
        large = len(written) > limits.result_bytes
    status, used = _end(pid, time.monotonic() if late or large else deadline)
    late = late or time.monotonic() >= deadline
    if large:
        return _failed("too_large", "the result")
    if late:
        return _failed("too_slow", "by the clock")
    if os.waitstatus_to_exitcode(status) == 0 and written:
        return bytes(written)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return _failed("too_slow", "computing")
    # Libraries in C abort when they get no memory, each in its own way.
    full = used.ru_maxrss * 1024 > 0.7 * limits.memory_bytes
    return _failed("too_large" if full else "broken", f"it ended with status {status}")


def _end(pid: int, deadline: float) -> tuple[int, resource.struct_rusage]:
    """Wait until a process ends, kill it when it is time, and return how it ended."""
    while time.monotonic() < deadline:
        ended, status, used = os.wait4(pid, os.WNOHANG)
        if ended:
            break
        time.sleep(0.001)
    else:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        _, status, used = os.wait4(pid, 0)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)  # what it started may be there yet
    return status, used


def _failed(code: SandboxCode, detail: str) -> bytes:
    return msgspec.msgpack.encode(Answer("failed", code=code, detail=detail))


if __name__ == "__main__":
    confine.keeper()
    with socket.socket(fileno=os.dup(0)) as connection:
        # A call inherits an empty standard input.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        serve(connection)
