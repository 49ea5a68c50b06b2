"""How large the body of a request may be. What is larger is refused before it is kept.

Django would first read it to a file, whatever its length; daphne would hand it over in memory.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.template.loader import render_to_string
from django.utils.translation import get_language_from_request, gettext, override

Application = Callable[..., Awaitable[None]]
DRAIN_S = 10.0
"""How long a body that is refused is still listened to: else a browser tells of a broken line."""
CODE = "too_large"


def is_upload(path: str) -> bool:
    """Tell whether a path is one where files are sent to."""
    return path.startswith("/library/") and path.endswith("/upload/")


class BodyLimits:
    """Refuse with 413 what is larger than its place allows: uploads much, all else little."""

    def __init__(self, application: Application, *, small: int, large: int) -> None:
        self.application = application
        self.small = small
        self.large = large

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the request on as long as it is small enough."""
        limit = self.large if is_upload(scope["path"]) else self.small
        declared = next((v for k, v in scope["headers"] if k == b"content-length"), b"0")
        taken = int(declared) if declared.isdigit() and len(declared) < 20 else 0
        if taken > limit:
            await refuse(scope, receive, send, limit)
            return
        taken = 0

        async def counted() -> Any:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            # For Django the client has gone: it drops what it has.
            return message if taken <= limit else {"type": "http.disconnect"}

        async def only_if_small(message: Any) -> None:
            if taken <= limit:
                await send(message)

        await self.application(scope, counted, only_if_small)
        if taken > limit:
            await refuse(scope, receive, send, limit)


async def refuse(scope: Any, receive: Any, send: Any, limit: int) -> None:
    """Listen to the rest for a while, keeping nothing of it, and say what was wrong."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            while (message := await receive())["type"] == "http.request":
                if not message.get("more_body"):
                    break
    kind, body = await asyncio.to_thread(_answer, scope, limit)
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _answer(scope: Any, limit: int) -> tuple[bytes, bytes]:
    """Return the type and the text of the answer, in the language of whoever asked."""
    request = ASGIRequest(scope, BytesIO())
    with override(get_language_from_request(request)):
        megabytes = f"{limit / 1_000_000:.3g}"
        message = gettext("This is larger than the {size} MB that may be sent at once.").format(
            size=megabytes
        )
        wants = request.headers.get("Accept", "")
        if "application/json" in wants or request.path.startswith("/api/"):
            error = {"code": CODE, "message": message, "retryable": False}
            return b"application/json", json.dumps({"error": error}).encode()
        return b"text/html; charset=utf-8", render_to_string("413.html", {"why": message}).encode()


def bound_daphne(limit: int) -> None:
    """Let daphne keep no more of a body than may be sent: it reads all before it asks anybody."""
    if "daphne.cli" not in sys.modules:
        return
    from daphne.http_protocol import WebRequest

    got_length, handle_chunk = WebRequest.gotLength, WebRequest.handleContentChunk

    def got(self: Any, length: int | None) -> None:
        self.refused = length is not None and length > limit
        got_length(self, 0 if self.refused else length)

    def handle(self: Any, data: bytes) -> None:
        # One byte more than may be: so it is seen that there was more.
        if not self.refused and self.content.tell() <= limit:
            handle_chunk(self, data)

    WebRequest.gotLength, WebRequest.handleContentChunk = got, handle
