"""The states of the runs that were looked at last: who looks again folds only what is new."""

from __future__ import annotations

import threading
from collections import OrderedDict
from uuid import UUID

from research.fold import fold
from research.state import RunState
from streaming import log

KEPT = 8
ALL = 1_000_000

_states: OrderedDict[tuple[UUID, str], RunState] = OrderedDict()
_lock = threading.Lock()  # two folds of one state would both add to its texts


def state_of(run_id: UUID, epoch: str, head: int) -> RunState:
    """Return a run as its log tells it, at `head` or later. Blocking; nobody changes the state."""
    with _lock:
        key = (run_id, epoch)
        state = _states.get(key)
        if state is None or state.seq < head:
            after = state.seq if state else 0
            state = fold(state, [record.text for record in log.read_after(run_id, after, ALL)])
        _states[key] = state
        _states.move_to_end(key)
        if len(_states) > KEPT:
            _states.popitem(last=False)
        return state
