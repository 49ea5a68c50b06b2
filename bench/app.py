"""The product's own ASGI application, with two doors for the benchmark beside it.

`POST /bench/run` makes a run whose log is empty; `POST /bench/burst?run=…&events=…` lets a member
speak into it as fast as the log takes it, text merging off.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from project.asgi import application as product
from research.models import Run, RunStatus
from streaming import runtime
from streaming import vocabulary as v
from streaming.events import Voice
from streaming.handler import StreamHandler
from streaming.members import Role
from streaming.models import Stream
from streaming.sinks import LogSink

DELTA = "and so the log tells every one of them what happened"


def make_run() -> UUID:
    from django.contrib.auth.models import User

    stream = Stream.objects.create()
    user = User.objects.get(username="bench")
    # "cancelled" keeps the engine from it; its log is open all the same.
    Run.objects.create(stream=stream, user=user, topic="bench", status=RunStatus.CANCELLED)
    return stream.pk


async def burst(run_id: UUID, events: int) -> None:
    """Speak: four text deltas to one tool call, then the terminal event."""
    machinery = runtime.current()
    assert machinery
    conf = dataclasses.replace(machinery.conf, merge_ms=0)
    sink = LogSink(machinery.writer, run_id, conf)
    voice = Voice("researcher-1", Role.TEAMMATE, "task_1", 1, 1, work="task:1", attempt=1)
    handler = StreamHandler(sink, voice=voice)
    for number in range(events - 1):
        if number % 5:
            await handler.say(v.MessageDelta(message_id="m1", delta=f"{number} {DELTA}"))
        else:
            await handler.say(v.Status(message=f"{number} {DELTA}"))
    await handler.say(v.RunCompleted())
    await handler.flush()


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http" or not scope["path"].startswith("/bench/"):
        await product(scope, receive, send)
        return
    machinery = runtime.current()
    assert machinery
    query = {key: values[0] for key, values in parse_qs(scope["query_string"].decode()).items()}
    answer: dict[str, Any] = {}
    if scope["path"] == "/bench/run":
        answer["run"] = str(await machinery.readers.run(make_run))
    else:
        task = asyncio.create_task(burst(UUID(query["run"]), int(query["events"])))
        _bursts.add(task)
        task.add_done_callback(_bursts.discard)
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


_bursts: set[asyncio.Task[None]] = set()
