"""A page of the web, read: fetched by the guarded client, taken apart in the sandbox."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from research import sandbox
from research.library.unreadable import Unreadable
from research.sandbox import Limits, SandboxError

from .client import get
from .errors import WebError
from .extract import Extracted
from .kinds import ACCEPT, MEDIA_TYPES, kind_of, most_bytes

LIMITS = Limits(wall_s=30.0, cpu_s=20.0, memory_bytes=1 << 30, result_bytes=32_000_000)
_MESSAGES = {
    "too_slow": "Reading this page took too long.",
    "too_large": "This page unpacks to more than can be read.",
    "broken": "This page is damaged in a way that nobody can read it.",
}


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page, where it was found, and when."""

    url: str
    media_type: str
    at: datetime
    text: Extracted


async def read(url: str) -> WebPage:
    """Return the page at a URL. Raises `WebError`, also for what cannot be read."""
    fetched = await get(url, accept=ACCEPT, max_bytes=most_bytes)
    kind = kind_of(fetched.content_type, fetched.url, fetched.body)
    try:
        text: Extracted = await sandbox.acall(
            "research.web.extract:extract",
            fetched.body,
            kind,
            fetched.charset,
            fetched.url,
            limits=LIMITS,
            returns=Extracted,
        )
    except SandboxError as error:
        raise WebError(error.code, _MESSAGES[error.code]) from None
    except Unreadable as error:
        raise WebError(error.code, str(error)) from None
    return WebPage(fetched.url, MEDIA_TYPES[kind], fetched.at, text)
