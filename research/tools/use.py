"""Use of a tool: its row, its events and its errors, the same for every tool."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

from pydantic_ai import ModelRetry, ToolFailed

from research.actions import tools
from research.actions.change import Action, Change
from research.actions.tools import Use
from research.context import WorkContext
from research.models import Run

logger = logging.getLogger(__name__)

Finish = Callable[[Run, int], Change]
"""Given the run and how many ms it took: the rows a tool writes, and its end."""


class Retry(ModelRetry):
    """Other arguments may do; `code` says what is wrong with these."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Failed(ToolFailed):
    """This will not work, however it is asked; `code` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Uses:
    """The uses of tools by one piece of work."""

    def __init__(self, context: WorkContext) -> None:
        self.context = context

    async def run(
        self,
        tool: str,
        args: dict[str, Any],
        body: Callable[[Use], Awaitable[Finish]],
    ) -> Any:
        """Use a tool: say so, do it, write down what it brought and how it ended.

        `ModelRetry` (other arguments may do) and `ToolFailed` (this will not work) are told to the
        model and shown; anything else is a bug, and ends the work.
        """
        context = self.context
        use = Use(f"call_{uuid4().hex}", tool, context.handler.voice)
        await context.act(tools.start(use, args))
        began = time.monotonic()

        def took() -> int:
            return round((time.monotonic() - began) * 1000)

        try:
            finish = await body(use)
            return await context.act(lambda run: finish(run, took()))
        except (ModelRetry, ToolFailed) as error:
            code = getattr(error, "code", "tool_retry")
            await context.act(_failed(use, str(error), took(), code))
            raise
        except Exception:
            await context.act(_failed(use, "The tool broke.", took(), "internal"))
            raise


def _failed(use: Use, message: str, duration_ms: int, code: str) -> Action:
    def action(run: Run) -> Change:
        return tools.finish(run, use, message, duration_ms, status="error", code=code)

    return action
