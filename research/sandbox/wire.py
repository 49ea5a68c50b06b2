"""How the keeper is spoken to: frames of MessagePack, each after its length."""

from __future__ import annotations

import socket
import struct
from typing import Literal

import msgspec

from .limits import Limits, SandboxCode

_LENGTH = struct.Struct("!Q")
MOST = 1 << 30


class Request(msgspec.Struct, frozen=True):
    """A call; its arguments stay packed until they are where they can do no harm."""

    target: str
    args: msgspec.Raw
    limits: Limits


class Answer(msgspec.Struct, frozen=True):
    """How a call ended: with a value, with an exception that has a name, or badly."""

    kind: Literal["value", "raised", "failed"]
    value: msgspec.Raw = msgspec.Raw(b"\xc0")
    name: str = ""
    args: tuple[str, ...] = ()
    code: SandboxCode = "broken"
    detail: str = ""


def send(to: socket.socket, frame: bytes) -> None:
    """Send one frame."""
    to.sendall(_LENGTH.pack(len(frame)))
    to.sendall(frame)


def receive(source: socket.socket) -> bytearray | None:
    """Return the next frame, or None at the end of the connection."""
    head = _exactly(source, _LENGTH.size)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > MOST:
        raise OSError("A frame is longer than any may be.")
    return _exactly(source, length)


def _exactly(source: socket.socket, length: int) -> bytearray | None:
    data = bytearray(length)
    rest = memoryview(data)
    while rest:
        read = source.recv_into(rest)
        if not read:
            return None
        rest = rest[read:]
    return data
