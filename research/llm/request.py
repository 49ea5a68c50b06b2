"""What a model of our own sees of a request: the same that any other model is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model."""

    prompt: str  # the last one of a person, with what people said since
    instructions: str
    tools: frozenset[str]
    output_tool: str | None
    turn: int  # which reply of this conversation is asked for, from 1
    passages: list[dict[str, Any]]  # what the last search brought

    @classmethod
    def of(cls, messages: list[ModelMessage], parameters: ModelRequestParameters) -> Request:
        """Read it from what pydantic-ai hands to a model."""
        asked = [message for message in messages if isinstance(message, ModelRequest)]
        parts = [part for message in asked for part in message.parts]
        said = [_text(part.content) for part in parts if isinstance(part, UserPromptPart)]
        steers = [text for text in said if "<steer " in text]
        prompts = [text for text in said if text not in steers]
        told = [message.instructions for message in asked if message.instructions]
        found = [
            part.metadata["passages"]
            for part in parts
            if isinstance(part, ToolReturnPart)
            and isinstance(part.metadata, dict)
            and "passages" in part.metadata
        ]
        return cls(
            prompt="\n".join([*prompts[-1:], *steers]),
            instructions=told[-1] if told else "",
            tools=frozenset(tool.name for tool in parameters.function_tools),
            output_tool=parameters.output_tools[0].name if parameters.output_tools else None,
            turn=1 + sum(isinstance(message, ModelResponse) for message in messages),
            passages=found[-1] if found else [],
        )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(item for item in content if isinstance(item, str))
