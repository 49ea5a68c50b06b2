"""What the steps of the fold share: where they are registered, and how they change cards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from research.cards import Card, MomentCard
from research.state import RunState
from streaming.events import Event

C = TypeVar("C", bound=Card)
Step = Callable[[RunState, Event], None]

FOLDS: dict[str, Step] = {}
"""What each type of event changes. A type that is not in it changes nothing."""


def on(*types: str) -> Callable[[Step], Step]:
    """Register a step of the fold."""

    def register(step: Step) -> Step:
        FOLDS.update(dict.fromkeys(types, step))
        return step

    return register


def base(event: Event) -> dict[str, Any]:
    """Return what a new card takes from the envelope."""
    return {
        "born": event.seq,
        "changed": event.seq,
        "ts": event.ts,
        "stream_token": event.stream_token,
        "task_id": event.task_id,
        "member": event.source_member,
        "role": event.role,
        "work": event.work,
        "attempt": event.attempt,
    }


def change(cards: dict[Any, C], key: Any, event: Event, **changes: Any) -> None:
    """Replace a card; an event about a card that is not there changes nothing."""
    if card := cards.get(key):
        cards[key] = replace(card, changed=event.seq, **changes)


def change_run(state: RunState, event: Event, **changes: Any) -> None:
    """Replace the card of the run."""
    state.run = replace(state.run, changed=event.seq, **changes)


def tell(state: RunState, event: Event, **changes: Any) -> None:
    """Let an event that has no card of its own stand in the timeline."""
    data = event.data
    text = data.get("message") or data.get("reason") or data.get("text") or data.get("limit", "")
    told = {"kind": event.type, "text": text, "code": data.get("code")}
    said = told | {"seconds": data.get("seconds"), "input_id": data.get("input_id")} | changes
    state.moments[event.seq] = MomentCard(**base(event), **said)


def act(state: RunState, event: Event, activity: str, detail: str = "") -> None:
    """Say what the member that speaks is doing."""
    name = event.source_member
    card = state.members.get(name) if name else None
    if card and (card.activity, card.detail) != (activity, detail):
        changes = {"activity": activity, "detail": detail, "since": event.ts}
        lane = {"stream_token": event.stream_token, "task_id": event.task_id}
        change(state.members, name, event, **changes, **lane)
