"""offline: one run from start to report, for a command. Beside a server, the server carries it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from research.actions.runs import report_markdown
from research.models import Run
from research.options import RunOptions
from streaming.exceptions import StreamingError

from .boot import House
from .work import start_run


class RunFailed(StreamingError):
    """The run did not complete."""

    code = "run_failed"


async def research_once(
    topic: str, user: Any, collection_ids: Sequence[int] | None = None, house: House | None = None
) -> str:
    """Research a topic and return the report as Markdown; raise `RunFailed` if there is none.

    Without a `house` (the machinery of this process) one is started for this run alone.
    """
    if house is None:
        house = House()
        await house.start()
        try:
            return await research_once(topic, user, collection_ids, house)
        finally:
            await house.stop()
    chosen: list[int | str] | None = None if collection_ids is None else list(collection_ids)
    options = RunOptions(collections=chosen)
    readers = house.runtime.readers
    started = await readers.run(start_run, user, topic, options)
    async with house.runtime.hub.watch(started.run.pk) as feed:
        with feed.bell() as bell:
            while not feed.closed:
                bell.clear()
                if not feed.closed:
                    await bell.wait()
    return await readers.run(_report, started.run.pk)


def _report(run_id: UUID) -> str:
    run = Run.objects.get(pk=run_id)
    if run.status != "completed":
        raise RunFailed(f"The run {run.status}: {run.error_message or run.error_code}")
    return report_markdown(run)
