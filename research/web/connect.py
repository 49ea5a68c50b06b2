"""Connections to addresses that were checked, and to no other, whatever the name says by then."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Iterable, Sequence
from functools import cache

import certifi
import httpcore

from .address import Address, may_connect, plain
from .errors import WebError

CONNECT_S = 5.0


class Pinned(httpcore.AsyncNetworkBackend):
    """Connects to the first of the given addresses that answers; TLS still checks the name."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._addresses = addresses
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to an address of ours, not to `host`."""
        failed: Exception = httpcore.ConnectError("There is no address.")
        for address in self._addresses:
            if not may_connect(address):
                raise WebError("blocked_address", "This address is not fetched from.")
            try:
                stream = await self._backend.connect_tcp(str(address), port, CONNECT_S)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
                continue
            if _peer(stream) != plain(address):
                await stream.aclose()
                raise WebError("blocked_address", "Another address answered than was asked.")
            return stream
        raise failed

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Refuse."""
        raise WebError("blocked_address", "A socket of this machine is not fetched from.")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self._backend.sleep(seconds)


def _peer(stream: httpcore.AsyncNetworkStream) -> Address | None:
    peer = stream.get_extra_info("server_addr")
    try:
        return plain(ipaddress.ip_address(str(peer[0])))
    except (TypeError, ValueError, IndexError):
        return None


@cache
def trust() -> ssl.SSLContext:
    """Return whom TLS trusts: whom this system trusts, and whom Mozilla does."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
