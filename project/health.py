"""Answer the two questions of a load balancer: are you alive, and can you work.

`/healthz` touches nothing: a database that is down is no reason to restart the process.
`/readyz` asks each part for an answer within a second and says which one has none, but neither
why nor where it is: anybody may ask.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache

from research.engine import boot

logger = logging.getLogger(__name__)
PATIENCE_S = 1.0
LEAST_FREE_BYTES = 4 * 1024 * 1024
# Its own thread: one that hangs on a database must hold up no visitor, only the next question.
_threads = ThreadPoolExecutor(1, thread_name_prefix="readyz")


async def healthz(request: HttpRequest) -> HttpResponse:
    """Answer that the process runs."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


@never_cache
async def readyz(request: HttpRequest) -> JsonResponse:
    """Answer which parts can work; 503 if one cannot."""
    answers = await asyncio.gather(*(_ask(name, ask) for name, ask in PARTS.items()))
    parts = dict(zip(PARTS, answers, strict=True))
    down = {name for name, ok in parts.items() if not ok}
    # Without the layer pages and runs go on and events arrive by the tick.
    status = "ready" if not down else "degraded" if down == {"channel_layer"} else "unavailable"
    body = {"status": status, "parts": {name: "ok" if ok else "down" for name, ok in parts.items()}}
    return JsonResponse(body, status=503 if down else 200)


async def _ask(name: str, ask: Callable[[], Awaitable[bool]]) -> bool:
    try:
        return await asyncio.wait_for(ask(), PATIENCE_S)
    except Exception as error:  # whatever it is, the part is not ready
        logger.warning("readyz: %s: %s", name, type(error).__name__)
        return False


async def _in_thread(ask: Callable[[], bool]) -> bool:
    return await asyncio.get_running_loop().run_in_executor(_threads, ask)


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone())
    finally:
        connection.close()  # a fresh one each time: a dead one would answer for the next


def _storage() -> bool:
    return shutil.disk_usage(settings.DATA_DIR).free >= LEAST_FREE_BYTES


async def _channel_layer() -> bool:
    # To a group that nobody is in: it must reach the server and no one else.
    await get_channel_layer().group_send("readyz", {"type": "readyz"})
    return True


async def _engine() -> bool:
    return boot.is_ready()


PARTS: dict[str, Callable[[], Awaitable[bool]]] = {
    "database": lambda: _in_thread(_database),
    "storage": lambda: _in_thread(_storage),
    "channel_layer": _channel_layer,
    "engine": _engine,
}
