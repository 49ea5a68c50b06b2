"""The keeper, seen from the outside: a process that is asked one thing at a time."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from . import wire
from .limits import SandboxCode
from .wire import Answer, Request

ROOT = Path(__file__).resolve().parent.parent.parent
GRACE_S = 15.0
"""How long after its limit a call is given up with its keeper, which itself stops calls in time."""
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
"""What of the environment a keeper sees: no key, no password, no address."""


class Lost(Exception):
    """The keeper is gone, or does not answer."""

    def __init__(self, code: SandboxCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class Keeper:
    """A running keeper."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        env = {name: value for name in PASSED_ON if (value := os.environ.get(name))}
        env |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "research.sandbox.child"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=ROOT,
                env=env,
                start_new_session=True,  # a Ctrl-C in the terminal is for the server
            )

    @property
    def pid(self) -> int:
        """Return the id of its process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Tell whether its process runs."""
        return self._process.poll() is None

    def ask(self, request: Request) -> Answer:
        """Return the answer to a request. Raises `Lost`; then this keeper is of no more use."""
        self._socket.settimeout(request.limits.wall_s + GRACE_S)
        try:
            wire.send(self._socket, msgspec.msgpack.encode(request))
            frame = wire.receive(self._socket)
        except TimeoutError:
            raise Lost("too_slow", "The process did not answer.") from None
        except OSError as error:
            raise Lost("broken", f"The process is gone: {error}.") from None
        if frame is None:
            raise Lost("broken", "The process is gone.")
        try:
            return msgspec.msgpack.decode(frame, type=Answer)
        except msgspec.DecodeError:  # it is not ours any more that speaks there
            raise Lost("broken", "The process answered what is no answer.") from None

    def kill(self) -> None:
        """End its process, and the call that it may be at."""
        self._socket.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
