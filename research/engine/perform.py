"""perform: one attempt at one piece of work, from its claim to its end in the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from research.actions import works
from research.actions.change import Action
from research.actions.works import Claimed
from research.context import RunFacts, WorkContext
from research.llm.errors import typed
from research.models import Run
from research.team import leader, researcher, verifier, writer
from research.team.talk import PutAside
from streaming.exceptions import LogError
from streaming.handler import StreamHandler
from streaming.runtime import Runtime
from streaming.sinks import LogSink

from .work import apply

logger = logging.getLogger(__name__)

PERFORMERS: dict[str, Callable[[WorkContext], Awaitable[None]]] = {
    "plan": leader.plan,
    "task": researcher.research,
    "write": writer.write,
    "verify": verifier.verify,
}


async def claim(runtime: Runtime, run_id: UUID, name: str) -> Claimed | None:
    """Claim a piece of queued work; None where it is not to be had any more."""
    applied = await runtime.writer.call(partial(apply, run_id, works.claim(name)))
    claimed: Claimed | None = applied.value
    return claimed


async def perform(runtime: Runtime, claimed: Claimed) -> None:
    """Carry out claimed work. However it goes, it has one end in the log; cancelled, none yet."""
    me = asyncio.current_task()
    assert me is not None

    def stop() -> None:
        me.cancel()

    sink = LogSink(
        runtime.writer,
        claimed.run_id,
        runtime.conf,
        claimed.claim,
        failed=lambda error: stop(),
    )

    async def act(action: Action) -> Any:
        sink.push()  # what was said before it stands before it
        applied = await runtime.writer.call(
            partial(apply, claimed.run_id, action, claimed.claim), claimed.claim
        )
        return applied.value

    try:
        try:
            run = await runtime.readers.run(_facts, claimed.run_id)
            context = WorkContext(
                run,
                claimed.name,
                claimed.member,
                claimed.input,
                StreamHandler(sink, voice=claimed.voice),
                runtime.readers,
                act,
                claimed.talk,
            )
            await PERFORMERS[claimed.name.partition(":")[0]](context)
        except LogError:
            raise
        except PutAside:
            pass  # it waits in the queue for its run to go on
        except Exception as error:
            code, message = typed(error)
            if code == "internal":
                error_id = uuid4().hex[:12]
                logger.exception("%s of %s failed, %s", claimed.name, claimed.run_id, error_id)
                message = f"Something went wrong here ({error_id})."
            else:
                # Only of the settings is it known that what they say of themselves is no secret.
                why = f"{code}: {error}" if code == "model_settings" else code
                logger.warning("%s of %s failed: %s", claimed.name, claimed.run_id, why)
            await act(works.fail(claimed.name, code, message))
    except LogError as error:
        await _give_up(runtime, claimed, error)
    except asyncio.CancelledError:
        if sink.error is None:
            with suppress(LogError):
                sink.push()  # what was said so far is kept
            raise
        await _give_up(runtime, claimed, sink.error)


async def _give_up(runtime: Runtime, claimed: Claimed, error: Exception) -> None:
    """End work whose words could not be written; where somebody else has it, leave it alone."""
    logger.warning("%s of %s stopped: %s", claimed.name, claimed.run_id, error)
    if getattr(error, "code", "") in ("fenced", "stream_closed"):
        return
    code = getattr(error, "code", "storage")
    fail = works.fail(claimed.name, code, "What was said could not be written down.")
    try:
        await runtime.writer.call(
            partial(apply, claimed.run_id, fail, claimed.claim), claimed.claim
        )
    except LogError as again:
        logger.error("%s of %s has no end yet: %s", claimed.name, claimed.run_id, again)


def _facts(run_id: UUID) -> RunFacts:
    run = Run.objects.select_related("parent").get(pk=run_id)
    parent = run.parent.topic if run.parent else ""
    earlier = parent if parent != run.topic else ""
    return RunFacts(run.pk, run.user_id, run.topic, run.language, run.options, earlier)
