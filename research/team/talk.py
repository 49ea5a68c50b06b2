"""Talk: a conversation with a model that can be put aside, and taken up by another process."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.usage import RunUsage

from streaming.text import clean_json


class PutAside(Exception):
    """The work waits: its run is paused."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What was said so far, with which steers, and what of its limits is used up."""

    messages: Sequence[ModelMessage] = ()
    steers: Collection[int] = ()
    usage: RunUsage = field(default_factory=RunUsage)

    @classmethod
    def of(cls, kept: dict[str, Any] | None) -> Self:
        """Return what was kept; an empty talk where that is nothing."""
        if not kept:
            return cls()
        messages = ModelMessagesTypeAdapter.validate_python(kept["messages"])
        return cls(messages, kept["steers"], RunUsage(**kept["usage"]))

    def kept(self) -> dict[str, Any] | None:
        """Return it as JSON; None where no model has answered yet: then it may begin anew."""
        if not any(isinstance(message, ModelResponse) for message in self.messages):
            return None
        messages = ModelMessagesTypeAdapter.dump_python(list(self.messages), mode="json")
        usage = {"requests": self.usage.requests, "tool_calls": self.usage.tool_calls}
        kept = {"messages": messages, "steers": sorted(self.steers), "usage": usage}
        return clean_json(kept)  # type: ignore[no-any-return]
