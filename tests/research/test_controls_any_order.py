"""Whatever people ask for, and whatever the engine does meanwhile: the rules of the log hold."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from research.actions import notes, runs, steer, works
from research.actions.change import Change
from research.actions.plan import finish_task, propose
from research.actions.report import finish_section, finish_verification
from research.actions.tools import Use
from research.actions.works import Claimed
from research.engine import controls
from research.fold import fold, load
from research.models import Run, RunStatus, Steer, Work, WorkStatus
from research.team.plan import PlannedTask
from streaming import log
from streaming.events import TERMINAL
from streaming.exceptions import Fenced, StreamClosed, StreamingError
from streaming.open_set import STARTS, open_set

from .conftest import Steps

pytestmark = [pytest.mark.django_db(transaction=True)]

OFTEN = ("steer", "steer_one", "pause", "pause", "resume", "retry")
LAST = ("finish", "cancel")  # after them there is less to come
DONE = ("claim", "claim", "claim", "end", "end", "fail", "aside", "die", "hear", "note", "stop")


class Play:
    """A run, those who work for it, and what people ask of it."""

    def __init__(self, user: User, data: st.DataObject) -> None:
        self.steps = Steps(user, researchers=2)
        self.user = user
        self.data = data
        self.held: dict[str, Claimed] = {}

    # --- people ----------------------------------------------------------------------------------
    def ask(self, name: str) -> None:
        run = self.steps.row()
        with suppress(StreamingError):
            match name:
                case "steer":
                    controls.steer(run, self.user, "Look again.")
                case "steer_one":
                    whom = ["leader", "researcher-1", "researcher-2", "writer", "verifier"]
                    to = self.data.draw(st.sampled_from(whom), "to")
                    controls.steer(run, self.user, "You there.", to)
                case "retry":
                    if not run.ended:
                        number = self.data.draw(st.integers(1, 3), "task")
                        controls.retry(run, self.user, number)
                case _:
                    getattr(controls, name)(run, self.user)

    # --- the engine ------------------------------------------------------------------------------
    def do(self, name: str) -> None:
        match name:
            case "claim":
                for work in self.steps.queued()[:1]:
                    if claimed := self.steps.do(works.claim(work)):
                        self.held[work] = claimed
            case "stop":
                if self.steps.row().status in (RunStatus.CANCELLING, RunStatus.FINISHING):
                    self.steps.do(runs.stopped)
            case "die":
                for work in list(self.held):
                    del self.held[work]
                    self.steps.do(works.take_over(work))
            case _:
                if self.held:
                    work = self.data.draw(st.sampled_from(sorted(self.held)), "work")
                    self.one(name, work, self.held[work])

    def one(self, name: str, work: str, claimed: Claimed) -> None:
        """Let whoever carries a work do something; one who lost it writes nothing."""
        try:
            match name:
                case "hear":
                    self.steps.do(steer.hear(work, ()), claimed)
                case "aside":
                    if self.steps.do(works.put_aside(work, None), claimed):
                        del self.held[work]
                case "note":
                    use = Use(f"call_{log.head(self.steps.id).seq}", "note", claimed.voice)
                    self.steps.do(lambda run: _noted(run, use), claimed)
                case "fail":
                    del self.held[work]
                    self.steps.do(works.fail(work, "provider_error", "Down."), claimed)
                case "end":
                    del self.held[work]
                    self.steps.do(ending(work), claimed)
        except (Fenced, StreamClosed):
            self.held.pop(work, None)


def _noted(run: Run, use: Use) -> Change:
    _, said = notes.create(run, use, "T", "Text.", "general", ())
    return Change(said)


def ending(work: str) -> Any:
    match work.partition(":")[0]:
        case "plan":
            tasks = [PlannedTask(title=f"T{n}", query=f"q{n}") for n in range(3)]
            return propose(work, tasks)
        case "task":
            return finish_task(work, "")
        case "write":
            return finish_section(work, "lead", "Lead", "Nothing.")
    return finish_verification(work, [])


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_whatever_is_asked_in_whatever_order_the_log_is_whole(
    user: User, data: st.DataObject
) -> None:
    play = Play(user, data)
    first = st.lists(st.sampled_from([*OFTEN, *DONE]), min_size=10, max_size=40)
    later = st.lists(st.sampled_from([*OFTEN, *LAST, *DONE]), max_size=10)
    for move in data.draw(first, "first") + data.draw(later, "later"):
        play.do(move) if move in DONE else play.ask(move)
        holds(play)
    bring_to_the_end(play)
    holds(play)
    events = play.steps.events()
    assert not open_set(events)
    assert events[-1].type in TERMINAL
    assert TERMINAL[events[-1].type] == play.steps.row().status
    assert not Steer.objects.filter(run=play.steps.id, heard=[], missed=False).exists()
    missed = {e.data["input_id"] for e in events if e.type == "team.interact_failed"}
    heard = {e.data["input_id"] for e in events if e.type == "input.heard"}
    said = {e.data["input_id"] for e in events if e.type == "input.received"}
    assert said == missed | heard and not missed & heard, "each is heard, or told that it is not"


def holds(play: Play) -> None:
    """Fail unless the rules hold that hold at every moment."""
    run, events = play.steps.row(), play.steps.events()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert sum(event.type in TERMINAL for event in events) == run.ended
    ends = Counter((e.work, e.attempt) for e in events if e.type == "work.finished")
    assert set(ends.values()) <= {1}
    begun = {(e.work, e.attempt) for e in events if e.type == STARTS_WORK}
    assert set(ends) <= begun
    if run.status in (RunStatus.PAUSED, RunStatus.CANCELLING, RunStatus.FINISHING):
        asked = {"run.paused", "run.cancelling", "run.finishing"}
        since = max(e.seq for e in events if e.type in asked)
        assert not [e for e in events if e.type == "work.started" and e.seq > since]
    members = Work.objects.filter(run=run, status=WorkStatus.RUNNING).values_list("member")
    assert len(set(members)) == len(members), "a member speaks for one work at a time"
    state = load(run.pk)
    texts = [record.text for record in log.read_after(run.pk, 0, 1_000_000)]
    half = len(texts) // 2
    assert fold(fold(None, texts[:half]), texts[half:]) == state
    agrees = {"running": {"running", "finishing"}, "paused": {"paused", "pausing"}}
    assert state.run.status in agrees.get(run.status, {run.status})


STARTS_WORK = next(name for name, (what, _) in STARTS.items() if what == "work")


def bring_to_the_end(play: Play) -> None:
    for _ in range(60):
        run = play.steps.row()
        if run.ended:
            return
        if run.status == RunStatus.PAUSED:
            play.ask("resume")
        play.do("stop")
        play.do("claim")
        for work, claimed in list(play.held.items()):
            play.one("end", work, claimed)
    raise AssertionError("The run has no end.")
