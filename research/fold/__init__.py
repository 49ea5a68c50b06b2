"""fold: a log becomes a `RunState`, one event at a time."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from research.state import RunState
from streaming import log
from streaming.events import decode

from . import evidence, people, speech, team  # noqa: F401  they register their steps
from .steps import FOLDS

__all__ = ["FOLDS", "fold", "load"]


def fold(state: RunState | None, texts: Sequence[str]) -> RunState:
    """Return the state after these events; the state that is given stays as it is."""
    new = state.copy() if state else RunState()
    for text in texts:
        event = decode(text)
        if step := FOLDS.get(event.type):
            step(new, event)
        new.seq = event.seq
    return new


def load(run_id: UUID) -> RunState:
    """Fold a run's whole log. Blocking; a watched run has its state in the hub."""
    return fold(None, [record.text for record in log.read_after(run_id, 0, 1_000_000)])
