"""What a request says, read from its tagged prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape

from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart

from research.text.language import Language, language

_TAG = re.compile(
    r"<(question|language|task|intent|query|section|note|source|written|steer)((?: "
    r"\w+=\"[^\"]*\")*)>([^<]*)</\1>"
)
_ATTRIBUTE = re.compile(r' (\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Tagged:
    """One element of a prompt."""

    name: str
    attributes: dict[str, str]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The elements of a prompt, and the whole of it where it has none."""

    items: tuple[Tagged, ...]
    whole: str

    def text(self, name: str) -> str:
        """Return the text of the first element of a name, "" if there is none."""
        return next((item.text for item in self.items if item.name == name), "")

    def all(self, name: str) -> list[Tagged]:
        """Return the elements of a name."""
        return [item for item in self.items if item.name == name]

    @property
    def question(self) -> str:
        """Return what is asked."""
        return self.text("question") or self.whole

    @property
    def language(self) -> Language:
        """Return the language to answer in."""
        said = self.text("language").strip().lower()
        if said[:2] == "zh":
            return "zh"
        return "en" if said else language(self.question)


def _said(messages: Sequence[ModelMessage]) -> str:
    found: list[str] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                if isinstance(part, UserPromptPart):
                    if isinstance(part.content, str):
                        found.append(part.content)
                    else:
                        found += [item for item in part.content if isinstance(item, str)]
    return "\n".join(found)


def read_prompt(messages: Sequence[ModelMessage]) -> Prompt:
    """Return what the user prompts of a conversation hold."""
    whole = _said(messages)
    items = tuple(
        Tagged(
            match[1],
            {name: unescape(value) for name, value in _ATTRIBUTE.findall(match[2])},
            unescape(match[3]),
        )
        for match in _TAG.finditer(whole)
    )
    return Prompt(items, whole)
