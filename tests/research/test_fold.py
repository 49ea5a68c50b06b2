"""The fold: the page built live is the page reloaded."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any
from uuid import UUID

import msgspec
import pytest

from research.engine.work import cancel_run
from research.fold import FOLDS, fold, load
from research.models import Collection, Note, Source, Task
from research.state import RunState
from streaming import log
from streaming import vocabulary as v
from streaming.events import DATA, Data, Voice, decode, draft
from streaming.members import Role

from .conftest import ENDS, Lab
from .scripts import Script, rules

pytestmark = [pytest.mark.django_db(transaction=True)]


def seen(state: RunState) -> Any:
    """Return all that can be seen of a state: its cards, and the texts as of now."""
    cards = {
        name: getattr(state, name)
        for name in RunState.__struct_fields__
        if name not in ("texts", "messages")
    }
    messages = {key: (card, state.text_of(key)) for key, card in state.messages.items()}
    return msgspec.to_builtins([list(cards.items()), list(messages.items())], str_keys=True)


async def logged(lab: Lab, run_id: UUID) -> list[str]:
    await lab.end(run_id)
    return await lab.db(lambda: [r.text for r in log.read_after(run_id, 0, 100_000)])


async def keyless(lab: Lab, script: Script, settings: Any) -> list[str]:
    settings.RESEARCH_MODEL = "keyless"
    return await logged(lab, await lab.ask())


async def failing(lab: Lab, script: Script, settings: Any) -> list[str]:
    fails = {"name": "fails", "when": {"prompt": '<task id="2">'}, "reply": [{"fault": "cut"}]}
    script.play([fails, *rules()])
    return await logged(lab, await lab.ask())


async def cancelled(lab: Lab, script: Script, settings: Any) -> list[str]:
    script.play(rules(0.02))
    run_id = await lab.ask()
    await lab.until(run_id, lambda events: any(e.work == "write:1" for e in events))
    await lab.db(cancel_run, run_id, "ann")
    return await logged(lab, run_id)


async def taken_over(lab: Lab, script: Script, settings: Any) -> list[str]:
    script.play(rules(0.02))
    run_id = await lab.ask()
    await lab.until(run_id, lambda events: any(e.type == "note.saved" for e in events))
    await lab.house.engine.stop()
    await lab.house.engine.start()
    return await logged(lab, run_id)


@pytest.mark.parametrize("record", [keyless, failing, cancelled, taken_over])
async def test_a_fold_that_goes_on_is_the_fold_of_the_whole(
    collection: Collection,
    script: Script,
    lab: Lab,
    settings: Any,
    record: Callable[[Lab, Script, Any], Any],
) -> None:
    texts = await record(lab, script, settings)
    whole = fold(None, texts)
    assert whole.seq == len(texts)
    one_by_one: RunState | None = None
    for cut in range(len(texts) + 1):
        early = fold(None, texts[:cut])
        before, cards = seen(early), copy.copy(early)
        late = fold(early, texts[cut:])
        assert seen(late) == seen(whole), f"cut at {cut}"
        assert seen(early) == before, "the state that was given is another"
        assert early.seq == cards.seq == cut
        if cut:
            one_by_one = fold(one_by_one, texts[cut - 1 : cut])
            assert seen(one_by_one) == before
    assert {card.status for card in whole.members.values()} == {"stopped"}


async def test_a_fold_shows_what_the_rows_say(
    collection: Collection, script: Script, lab: Lab, settings: Any
) -> None:
    texts = await taken_over(lab, script, settings)
    state = fold(None, texts)
    assert (state.run.status, state.run.phase) == ("completed", "done")

    def rows() -> Any:
        return (
            {s.source_id: [tuple(f) for f in s.finders] for s in Source.objects.all()},
            {n.note_id: (n.title, n.content, n.work, n.attempt) for n in Note.objects.all()},
            {t.task_id: (t.status, t.summary, t.member) for t in Task.objects.all()},
        )

    sources, notes, tasks = await lab.db(rows)
    assert {k: [tuple(f) for f in c.finders] for k, c in state.sources.items()} == sources
    assert {k: (c.title, c.content, c.work, c.attempt) for k, c in state.notes.items()} == notes
    assert {k: (c.status, c.summary, c.member) for k, c in state.tasks.items()} == tasks
    assert state.counts()["citations"] == state.counts()["checked"] == 3
    void = {(e["work"], e["attempt"]) for e in discarded(texts)}
    assert void
    for cards in (state.tools, state.messages, state.notes, state.sections, state.moments):
        assert not void & {(card.work, card.attempt) for card in cards.values()}
    assert any(name.startswith("tool:") for name in state.dropped)


def discarded(texts: list[str]) -> list[dict[str, Any]]:
    return [e.data for e in map(decode, texts) if e.type == "attempt.discarded"]


# --- by hand -----------------------------------------------------------------------------------
def lines(*said: tuple[Voice, Data]) -> list[str]:
    return [draft(voice, data).encode(seq) for seq, (voice, data) in enumerate(said, 1)]


def voice(work: str, attempt: int = 1) -> Voice:
    return Voice(source_member="researcher-1", role=Role.TEAMMATE, work=work, attempt=attempt)


def source(number: int) -> v.SourceFound:
    return v.SourceFound(source_id=number, title="T", uri=f"u:{number}", provider="library")


def test_a_discarded_attempt_takes_what_it_alone_brought() -> None:
    gone, other = voice("task:1"), voice("task:2")
    texts = lines(
        (gone, source(1)),
        (gone, source(2)),
        (other, source(2)),
        (gone, v.NoteSaved(note_id=1, title="N", content="C")),
        (other, v.NoteSaved(note_id=2, title="N", content="C")),
        (gone, v.ToolStarted(tool_call_id="a", tool="search")),
        (gone, v.MessageStarted(message_id="m")),
        (gone, v.MessageDelta(message_id="m", delta="lost")),
        (gone, v.ErrorShown(message="oops")),
        (other, v.ErrorShown(message="stays")),
        (Voice(), v.AttemptDiscarded(work="task:1", attempt=1, reason="It died.")),
        (voice("task:1", 2), source(3)),
    )
    state = fold(None, texts)
    assert list(state.sources) == [2, 3]
    assert list(state.sources[2].finders) == [("task:2", 1)]
    assert (list(state.notes), list(state.tools), list(state.messages)) == ([2], [], [])
    assert [card.text for card in state.moments.values()] == ["stays", "It died."]
    assert state.dropped == {
        "source:1": 11, "note:1": 11, "tool:a": 11, "message:m": 11, "moment:9": 11,
    }  # fmt: skip


def test_a_fold_that_broke_off_does_not_double_a_text() -> None:
    speaker = voice("task:1")
    texts = lines(
        (speaker, v.MessageStarted(message_id="m")),
        (speaker, v.MessageDelta(message_id="m", delta="a")),
        (speaker, v.MessageDelta(message_id="m", delta="b")),
    )
    early = fold(None, texts[:2])
    with pytest.raises(msgspec.DecodeError):
        fold(early, [texts[2], "{"])
    assert early.text_of("m") == "a"
    assert fold(early, texts[2:]).text_of("m") == "ab"


def test_a_text_without_deltas_is_shown_when_it_is_completed() -> None:
    speaker = voice("task:1")
    said = (
        (speaker, v.MessageStarted(message_id="m")),
        (speaker, v.MessageCompleted(message_id="m", text="all of it")),
    )
    assert fold(None, lines(*said)).text_of("m") == "all of it"


def test_what_is_not_known_changes_nothing() -> None:
    texts = lines(
        (voice("x"), v.MessageDelta(message_id="none", delta="a")),
        (voice("x"), v.ToolFinished(tool_call_id="none", tool="t")),
        (voice("x"), v.TaskCompleted(summary="s")),
        (voice("x"), v.MemberStatus(name="nobody", status="busy")),
        (voice("x"), v.NoteDeleted(note_id=7)),
    )
    texts.append('{"v":9,"seq":6,"ts":0,"type":"new.kind","future":1,"data":{"a":1}}')
    assert seen(fold(None, texts)) == seen(RunState(seq=6))


def test_every_type_that_is_folded_is_one_that_is_written() -> None:
    assert FOLDS.keys() <= DATA.keys()
    assert set(ENDS) <= FOLDS.keys()


async def test_a_state_is_json(collection: Collection, script: Script, lab: Lab) -> None:
    run, _ = await lab.research()
    state = await lab.db(load, run.pk)
    again = msgspec.json.decode(msgspec.json.encode(state), type=RunState)
    assert seen(again) == seen(state)
