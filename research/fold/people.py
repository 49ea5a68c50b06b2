"""Steps of the fold: what people say to the team, and who hears it."""

from __future__ import annotations

from typing import Any

from research.state import RunState
from streaming.events import Event

from .steps import change, on, tell


@on("input.received")
def _input_received(state: RunState, event: Event) -> None:
    tell(state, event, to=event.data.get("to"))


@on("input.heard")
def _input_heard(state: RunState, event: Event) -> None:
    seq, heard = _said(state, event)
    name = event.source_member or ""
    if seq and name not in heard:
        change(state.moments, seq, event, heard=[*heard, name])


@on("team.interact_failed")
def _interact_failed(state: RunState, event: Event) -> None:
    seq, _ = _said(state, event)
    if seq:
        change(state.moments, seq, event, missed=True)
    else:
        tell(state, event)


def _said(state: RunState, event: Event) -> tuple[int, list[Any]]:
    """Return where what was said stands, and who has heard it; 0 where it does not."""
    input_id = event.data.get("input_id")
    for seq, card in state.moments.items():
        if input_id and card.kind == "input.received" and card.input_id == input_id:
            return seq, card.heard
    return 0, []
