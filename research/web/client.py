"""The only way out to the web: `get`. Every address is checked, every answer has its limits.

It knows no proxy, no cookie and no password, and nothing of the environment.
"""

from __future__ import annotations

import asyncio
import email.utils
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message

import httpcore

from . import body, connect, hosts
from .errors import WebError
from .resolve import resolve
from .target import Target, target_of

MAX_BYTES = 5_000_000
TOTAL_S = 30.0
MAX_REDIRECTS = 5
AGENT = "Soundings/0.1 (research assistant; reads single pages for a person)"
_QUIET_S = 20.0
_DEFAULT_WAIT_S = 30.0
_REDIRECTS = frozenset((301, 302, 303, 307, 308))


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a site answered. `url` is where it was found in the end."""

    url: str
    status: int
    content_type: str
    charset: str | None
    body: bytes
    headers: Mapping[str, str]
    at: datetime


async def get(
    url: str,
    *,
    accept: str = "*/*",
    headers: Mapping[str, str] | None = None,
    max_bytes: int | Callable[[str], int] = MAX_BYTES,
    total_s: float = TOTAL_S,
) -> Fetched:
    """Return what is at a URL, redirects followed. Raises `WebError`.

    `headers` are for the first site only. `max_bytes` counts the unpacked body; a function gives it
    for each content type, 0 for one that is not wanted. `total_s` is for all of it, however slowly
    it drips, without the wait for one's turn with a site.
    """
    target = target_of(url)
    origin = (target.scheme, target.site)
    left = total_s
    for _ in range(MAX_REDIRECTS + 1):
        own = headers or {} if (target.scheme, target.site) == origin else {}
        async with hosts.turn(target.site):
            began = time.monotonic()
            try:
                async with asyncio.timeout(left):
                    answer = await _ask(target, {"Accept": accept, **own}, max_bytes)
            except TimeoutError:
                raise WebError("too_slow", f"It took longer than {total_s:.0f} s.") from None
            left -= time.monotonic() - began
        if isinstance(answer, Fetched):
            return answer
        target = answer
    raise WebError("redirect", f"It redirects more than {MAX_REDIRECTS} times.")


async def _ask(
    target: Target, headers: Mapping[str, str], max_bytes: int | Callable[[str], int]
) -> Fetched | Target:
    """Return what one site answers: a page, or where else to look."""
    addresses = await resolve(target.host, target.port)
    # A connection is for one request: the next hop is checked anew.
    pool = httpcore.AsyncConnectionPool(
        ssl_context=connect.trust() if target.scheme == "https" else None,
        max_connections=1,
        max_keepalive_connections=0,
        network_backend=connect.Pinned(addresses),
    )
    sent = {
        "Host": target.site,
        "User-Agent": AGENT,
        "Accept-Encoding": body.ENCODINGS,
        **headers,
        "Connection": "close",
    }
    timeouts = {"connect": _QUIET_S, "read": _QUIET_S, "write": _QUIET_S, "pool": _QUIET_S}
    try:
        async with (
            pool,
            pool.stream(
                "GET", target.url, headers=list(sent.items()), extensions={"timeout": timeouts}
            ) as response,
        ):
            return await _read(target, response, max_bytes)
    except httpcore.TimeoutException:
        raise WebError("too_slow", f"{target.host} did not answer in time.") from None
    except (httpcore.ConnectError, httpcore.ReadError, httpcore.WriteError):
        raise WebError("unreachable", f"{target.host} cannot be reached.") from None
    except (httpcore.ProtocolError, httpcore.UnsupportedProtocol):
        raise WebError("bad_answer", f"{target.host} did not answer in HTTP.") from None


async def _read(
    target: Target, response: httpcore.Response, max_bytes: int | Callable[[str], int]
) -> Fetched | Target:
    headers: dict[str, str] = {}
    for name, value in response.headers:
        headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
    status = response.status
    if status in _REDIRECTS and "location" in headers:
        return target.join(headers["location"])
    if status in (429, 503) and (status == 429 or "retry-after" in headers):
        seconds = _seconds(headers.get("retry-after", ""))
        hosts.leave_alone(target.site, seconds)
        raise WebError("site_busy", f"{target.host} asks to wait {seconds:.0f} s.", status)
    if not 200 <= status < 300:
        raise WebError("bad_status", f"{target.host} answered with status {status}.", status)
    kind, charset = content_type_of(headers.get("content-type", ""))
    most = max_bytes if isinstance(max_bytes, int) else max_bytes(kind)
    if not most:
        raise WebError("unsupported", f"What is there ({kind}) is no text that can be read.")
    if headers.get("content-length", "").isdecimal() and int(headers["content-length"]) > most:
        raise body.too_large(most)
    read = await body.read(response.aiter_stream(), headers.get("content-encoding", ""), most)
    return Fetched(target.url, status, kind, charset, read, headers, datetime.now(UTC))


def content_type_of(header: str) -> tuple[str, str | None]:
    """Return the media type and the charset that a header names."""
    message = Message()
    message["Content-Type"] = header[:200].replace("\n", " ").replace("\r", " ")
    kind = message.get_content_type() if "/" in header else ""
    charset = message.get_param("charset")
    return kind, charset.strip().lower()[:40] if isinstance(charset, str) and charset else None


def _seconds(retry_after: str) -> float:
    """Return how long a site asks to wait, told in seconds or as a date."""
    text = retry_after.strip()[:60]
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        until = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return _DEFAULT_WAIT_S
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
