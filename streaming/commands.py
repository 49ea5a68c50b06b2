"""Commands: what a client asks for, typed; and the registry that an application fills.

Every command has an integer `id` and is answered by exactly one `ack` or `error` with it. Fields
that are not known are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, ValidationError

from .exceptions import BadRequest
from .faces import FACES, Filter
from .principal import Principal as Principal
from .text import clean

if TYPE_CHECKING:
    from .runtime import Runtime

ID_MAX = 2**53  # the largest integer that every JSON reader keeps
SubName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,64}$")]
Text = Annotated[
    str, BeforeValidator(lambda value: clean(value) if isinstance(value, str) else value)
]
Key = Annotated[Text, Field(min_length=1, max_length=200)]
Names = Annotated[list[Annotated[str, Field(max_length=64)]], Field(min_length=1, max_length=64)]


class FilterSpec(BaseModel):
    """The lanes and members that a subscription shows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stream_token: Names | None = None
    source_member: Names | None = None

    def build(self) -> Filter:
        """Return the filter."""
        return Filter(
            frozenset(self.stream_token) if self.stream_token else None,
            frozenset(self.source_member) if self.source_member else None,
        )


class Command(BaseModel):
    """What every command has."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: StrictInt = Field(ge=0, le=ID_MAX)


class SubscribeSpec(BaseModel):
    """How a run is to be followed."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    sub: SubName
    filter: FilterSpec = FilterSpec()
    cursor: Annotated[str, Field(max_length=64)] = "start"
    snapshot: bool = False
    window: Annotated[int, Field(ge=1, le=4096)] | None = None
    face: str = "native"
    locale: Annotated[str, Field(pattern=r"^[A-Za-z-]{2,12}$")] = "en"


class Subscribe(Command, SubscribeSpec):
    """Follow a run."""

    type: Literal["subscribe"]
    run: UUID


class Unsubscribe(Command):
    """Follow it no more."""

    type: Literal["unsubscribe"]
    sub: SubName


class Ping(Command):
    """Ask whether somebody is there."""

    type: Literal["ping"]


class Credit(BaseModel):
    """Acknowledge what has arrived. It has no id, and is not answered."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: Literal["credit"]
    sub: SubName
    cursor: Annotated[str, Field(pattern=r"^e[0-9a-z]{1,15}:\d{1,18}$")]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command did: the rest of its `ack`."""

    fields: dict[str, Any] = field(default_factory=dict)


Handler = Callable[["Runtime", Principal, Any], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Registered:
    """A command of an application."""

    model: type[Command]
    handler: Handler
    scope: str


REGISTRY: dict[str, Registered] = {}
BUILT_IN: dict[str, type[BaseModel]] = {
    "subscribe": Subscribe,
    "unsubscribe": Unsubscribe,
    "ping": Ping,
    "credit": Credit,
}


def register(model: type[Command], handler: Handler, scope: str = "runs:write") -> None:
    """Make a command known by the literal `type` of its model, for who has the scope."""
    (name,) = model.model_fields["type"].annotation.__args__  # type: ignore[union-attr]
    REGISTRY[name] = Registered(model, handler, scope)


def parse(text: str) -> BaseModel:
    """Read a client's message; `BadRequest` says what is wrong with it."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise BadRequest("A message is one JSON object.") from None
    if not isinstance(value, dict):
        raise BadRequest("A message is one JSON object.")
    name = value.get("type")
    known = REGISTRY.get(name) if isinstance(name, str) else None
    model = known.model if known else BUILT_IN.get(name) if isinstance(name, str) else None
    if model is None:
        raise BadRequest(f"There is no command {str(name)[:40]!r}.")
    try:
        command = model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadRequest(f"{where or 'message'}: {first['msg']}") from None
    spec = getattr(command, "subscribe", command)
    if isinstance(spec, SubscribeSpec) and spec.face not in FACES:
        raise BadRequest(f"There is no face {spec.face[:40]!r}.")
    return command


def message_id(text: str) -> int | None:
    """Return the id of a message that may be broken in other ways, to answer it by."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = value.get("id") if isinstance(value, dict) else None
    # bool is an int; and what no JSON reader takes for an integer is not sent back to one
    return found if type(found) is int and 0 <= found <= ID_MAX else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
