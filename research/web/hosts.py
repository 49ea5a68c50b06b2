"""Good manners: no site is asked by too many at once, or before the time it asked to wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from .errors import WebError

AT_ONCE = 2
APART_S = 0.2
WAIT_S = 60.0
LONGEST_S = 600.0
"""A site that asks for more is asked again after so long."""
MOST = 1000


@dataclass(slots=True)
class _Host:
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    next: float = 0.0
    closed_until: float = 0.0
    asking: int = 0


_hosts: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Host]] = WeakKeyDictionary()


@asynccontextmanager
async def turn(site: str) -> AsyncIterator[None]:
    """Wait for one's turn with a site. Raises `WebError` where the site asked to be left alone."""
    host = _host(site)
    host.asking += 1
    try:
        _still_open(host)
        try:
            async with asyncio.timeout(WAIT_S):
                await host.slots.acquire()
        except TimeoutError:
            raise WebError("too_slow", "There are too many others who ask this site.") from None
        try:
            _still_open(host)
            start = max(time.monotonic(), host.next)
            host.next = start + APART_S
            await asyncio.sleep(start - time.monotonic())
            yield
        finally:
            host.slots.release()
    finally:
        host.asking -= 1


def leave_alone(site: str, seconds: float) -> None:
    """Ask a site nothing for so long."""
    host = _host(site)
    host.closed_until = max(host.closed_until, time.monotonic() + min(seconds, LONGEST_S))


def _still_open(host: _Host) -> None:
    left = host.closed_until - time.monotonic()
    if left > 0:
        raise WebError("site_busy", f"The site asked to be left alone for {left:.0f} s.", 429)


def _host(site: str) -> _Host:
    hosts = _hosts.setdefault(asyncio.get_running_loop(), {})
    if site not in hosts and len(hosts) >= MOST:
        now = time.monotonic()
        for name, host in list(hosts.items()):
            if not host.asking and max(host.next, host.closed_until) < now:
                del hosts[name]
    return hosts.setdefault(site, _Host())
