"""Names to addresses: looked up once, all answers checked before any is used."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading

from .address import Address, may_connect
from .errors import WebError

LOOKUP_S = 10.0
MOST = 4
"""How many addresses of a name are tried."""
_looking = threading.BoundedSemaphore(32)


async def resolve(host: str, port: int) -> list[Address]:
    """Return the addresses of a host. Raises `WebError` if any of them is not to be used."""
    try:
        async with asyncio.timeout(LOOKUP_S):
            found = await _look_up(host, port)
    except TimeoutError:
        raise WebError("unreachable", f"The name {host} could not be looked up in time.") from None
    except (OSError, UnicodeError):
        raise WebError("unreachable", f"There is no site named {host}.") from None
    if not all(may_connect(address) for address in found):
        # One that names a public address beside a private one is up to no good.
        raise WebError("blocked_address", f"{host} is not an address that is fetched from.")
    return found[:MOST]


async def _look_up(host: str, port: int) -> list[Address]:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[list[Address]] = loop.create_future()

    def settle(found: list[Address] | None, error: Exception | None) -> None:
        if future.done():
            return
        if found is None:
            future.set_exception(error or OSError("no address"))
        else:
            future.set_result(found)

    def work() -> None:
        found, failed = None, None
        try:
            found = addresses_of(host, port)
        except Exception as error:
            failed = error
        finally:
            _looking.release()
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, found, failed)

    # A resolver may hang for a minute: its thread must hold up neither others nor our end.
    if not _looking.acquire(blocking=False):
        raise TimeoutError
    threading.Thread(target=work, name="look-up", daemon=True).start()
    return await future


def addresses_of(host: str, port: int) -> list[Address]:
    """Return what the system's resolver says of a host, in its order. Blocking."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    # A zone, as in fe80::1%eth0, is left on: such an address is not public, and is refused.
    return list(dict.fromkeys(ipaddress.ip_address(answer[4][0]) for answer in answers))
