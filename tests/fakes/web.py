"""A web server on loopback that answers as it is told, well or badly.

    with FakeWeb() as web:
        web.page("/bees", "<h1>Bees</h1><p>They dance.</p>")
        web.raw("/drip", lambda asked: drip(b"HTTP/1.1 200 OK\\r\\n\\r\\n"))
        # FETCH_ALLOW_NETWORKS=127.0.0.0/8  FETCH_PORTS=80,443,<web.port>

What was asked is in `web.asked`, and how many connected in `web.connections`.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

LONGEST_HEAD = 100_000


@dataclass(frozen=True)
class Asked:
    """A request."""

    method: str
    path: str
    headers: dict[str, str]


Answer = Callable[[Asked], Iterable[bytes]]


def answer(
    body: bytes = b"", status: str = "200 OK", *, length: int | None = None, **headers: str
) -> bytes:
    """Return a whole answer; names of headers are written with `_` for `-`."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {size}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in given.items()]
    return "\r\n".join(lines).encode("utf-8") + b"\r\n\r\n" + body


def drip(first: bytes, byte: bytes = b"x", every: float = 0.05) -> Iterator[bytes]:
    """Yield something, and then one byte at a time, for ever."""
    yield first
    while True:
        time.sleep(every)
        yield byte


@dataclass
class FakeWeb:
    """The server; `address` may be any that this machine has."""

    address: str = "127.0.0.1"
    given_port: int = 0
    tls: ssl.SSLContext | None = None
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    most_open: int = 0
    names: list[str | None] = field(default_factory=list)
    """The name that each TLS handshake was for."""

    def __post_init__(self) -> None:
        self._answers: dict[str, Answer] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        self._socket = socket.create_server((self.address, self.given_port), family=family)
        self._socket.settimeout(0.2)
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def port(self) -> int:
        """Return the port that it listens on."""
        port: int = self._socket.getsockname()[1]
        return port

    def url(self, path: str = "/", host: str = "") -> str:
        """Return the URL of a path."""
        scheme = "https" if self.tls else "http"
        plain = f"[{self.address}]" if ":" in self.address else self.address
        return f"{scheme}://{host or plain}:{self.port}{path}"

    def page(
        self,
        path: str,
        body: str | bytes,
        content_type: str = "text/html; charset=utf-8",
        status: str = "200 OK",
        **headers: str,
    ) -> str:
        """Answer a path with a page; return its URL."""
        data = body.encode() if isinstance(body, str) else body
        whole = answer(data, status, length=len(data), Content_Type=content_type, **headers)
        return self.raw(path, lambda asked: [whole])

    def redirect(self, path: str, to: str, status: str = "302 Found") -> str:
        """Answer a path with a redirect; return its URL."""
        return self.raw(path, lambda asked: [answer(b"", status, Location=to)])

    def raw(self, path: str, pieces: Answer) -> str:
        """Answer a path with bytes, piece by piece; return its URL."""
        self._answers[path] = pieces
        return self.url(path)

    def paths(self) -> list[str]:
        """Return the paths that were asked for."""
        return [asked.path for asked in self.asked]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        self._ended.set()
        self._thread.join()
        self._socket.close()

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            self.connections += 1
            connection.settimeout(30)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            stream = connection
            if self.tls:
                stream = self.tls.wrap_socket(connection, server_side=True)
            with stream:
                self._answer(stream)

    def _answer(self, connection: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head and len(head) < LONGEST_HEAD:
            piece = connection.recv(4096)
            if not piece:
                return
            head += piece
        first, *lines = head.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        pairs = (line.partition(":") for line in lines)
        asked = Asked(method, path, {name.lower(): value.strip() for name, _, value in pairs})
        with self._lock:
            self.asked.append(asked)
            self.open += 1
            self.most_open = max(self.most_open, self.open)
        try:
            known = self._answers.get(path.partition("?")[0])
            pieces = known(asked) if known else [answer(b"There is no such page.", "404 Not Found")]
            for piece in pieces:
                if self._ended.is_set():
                    return
                connection.sendall(piece)
        finally:
            with self._lock:
                self.open -= 1
