"""The tools: each use is shown, attributed and closed, whatever a model makes of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from pydantic_ai import ModelRetry, ToolFailed, ToolReturn

from research.actions import tools as tool_actions
from research.actions.change import Change
from research.actions.notes import CONTENT_LENGTH
from research.actions.works import Claimed
from research.context import RunFacts, WorkContext
from research.engine.work import apply
from research.models import Collection, Note, Run, Source, ToolCall
from research.tools.note import note
from research.tools.search.base import SearchResult
from research.tools.search.tool import search
from research.tools.use import Uses
from streaming.events import Event
from streaming.handler import StreamHandler
from streaming.open_set import open_set
from streaming.readers import Readers

from .conftest import TOPIC, Steps

pytestmark = [pytest.mark.django_db(transaction=True)]


class Desk:
    """A researcher's desk: a task that is claimed, and the tools."""

    def __init__(self, steps: Steps, claimed: Claimed, readers: Readers) -> None:
        self.steps = steps
        self.readers = readers
        run = steps.run

        async def act(action: Any) -> Any:
            return (await readers.run(apply, run.pk, action, claimed.claim)).value

        facts = RunFacts(run.pk, run.user_id, TOPIC, "en", run.options)
        handler = StreamHandler(None, voice=claimed.voice)
        self.uses = Uses(
            WorkContext(facts, claimed.name, claimed.member, {}, handler, readers, act)
        )
        self._context: Any = SimpleNamespace(deps=self.uses)

    async def note(self, action: Any, **args: Any) -> str:
        return await note(self._context, action, **args)

    async def search(self, query: str) -> ToolReturn[Any]:
        return await search(self._context, query)

    async def db(self, function: Any, *args: Any) -> Any:
        return await self.readers.run(function, *args)

    async def events(self, *types: str) -> list[Event]:
        events: list[Event] = await self.db(self.steps.events)
        return [event for event in events if event.type in types]

    async def last(self) -> dict[str, Any]:
        """Return how the last use of a tool ended."""
        return (await self.events("tool.finished"))[-1].data


@pytest.fixture
async def readers() -> AsyncIterator[Readers]:
    made = Readers(2)
    yield made
    await asyncio.to_thread(made.stop)


async def seat(readers: Readers, user: User, *titles: str) -> list[Desk]:
    """Plan tasks of these titles, and return a desk for each."""

    def claim() -> tuple[Steps, list[Claimed]]:
        steps = Steps(user)
        return steps, steps.plan(*titles)

    steps, claims = await readers.run(claim)
    return [Desk(steps, claimed, readers) for claimed in claims]


@pytest.fixture
async def desk(readers: Readers, user: User) -> Desk:
    (made,) = await seat(readers, user, "One")
    return made


# --- the use of a tool -------------------------------------------------------------------------
async def test_a_use_has_a_row_a_start_and_an_end_of_its_member(desk: Desk) -> None:
    await desk.note("create", title="T", content="C")
    (started,) = await desk.events("tool.started")
    (finished,) = await desk.events("tool.finished")
    assert started.data["tool_call_id"] == finished.data["tool_call_id"]
    assert started.data["args"] == {"action": "create", "title": "T", "content": "C"}
    for event in (started, finished):
        assert (event.source_member, event.work, event.task_id) == ("researcher-1", "task:1", 1)
    assert finished.data["status"] == "ok"
    assert finished.data["duration_ms"] >= 0
    row = await desk.db(ToolCall.objects.get)
    assert (row.tool, row.status, row.member, row.work, row.attempt) == (
        "note", "ok", "researcher-1", "task:1", 1,
    )  # fmt: skip


@pytest.mark.parametrize("error", [ModelRetry("Try other words."), ToolFailed("Go on without.")])
async def test_what_a_tool_tells_the_model_is_shown(desk: Desk, error: Exception) -> None:
    async def body(use: Any) -> Any:
        raise error

    with pytest.raises(type(error)):
        await desk.uses.run("search", {}, body)
    last = await desk.last()
    assert (last["status"], last["result"]) == ("error", str(error))
    assert (await desk.db(ToolCall.objects.get)).status == "error"
    assert ("tool", last["tool_call_id"]) not in open_set(await desk.db(desk.steps.events))


async def test_a_bug_in_a_tool_is_closed_without_its_detail(desk: Desk) -> None:
    async def body(use: Any) -> Any:
        raise KeyError("secret detail")

    with pytest.raises(KeyError):
        await desk.uses.run("search", {}, body)
    last = await desk.last()
    assert (last["status"], last["code"]) == ("error", "internal")
    assert "secret" not in str(last)


async def test_what_a_use_brought_is_gone_with_it_where_its_end_cannot_be_written(
    desk: Desk,
) -> None:
    async def body(use: Any) -> Any:
        def finish(run: Run, duration_ms: int) -> Change:
            tool_actions.record_sources(
                run, use, [tool_actions.Found("u:1", "T", "library", "", None, None)]
            )
            raise ModelRetry("No.")

        return finish

    with pytest.raises(ModelRetry):
        await desk.uses.run("search", {}, body)
    assert not await desk.db(Source.objects.exists)
    assert not await desk.events("source.found")


@pytest.mark.parametrize(
    "args",
    [
        {"query": "🗼" * 60_000},
        {"tags": ["字" * 50] * 5000},
        {"a": {"b": [{"c": "\x01" * 9000}] * 40}},
        {f"key {n}": "x" * 100 for n in range(2000)},
    ],
)
async def test_arguments_of_any_size_are_one_event(desk: Desk, args: dict[str, Any]) -> None:
    async def body(use: Any) -> Any:
        return partial(_ends, use)

    await desk.uses.run("search", args, body)
    (started,) = await desk.events("tool.started")
    assert started.data["args"].keys() <= args.keys()


def _ends(use: Any, run: Run, duration_ms: int) -> Change:
    return tool_actions.finish(run, use, "", duration_ms)


# --- notes -------------------------------------------------------------------------------------
async def test_a_note_is_created_read_changed_and_deleted(desk: Desk) -> None:
    assert "1" in await desk.note(
        "create", title="Lamps", content="They burn oil.", note_type="conclusion", tags=["oil"]
    )
    read = await desk.note("read", note_id=1)
    assert read == "1. [conclusion] Lamps (oil)\n\nThey burn oil."
    assert (await desk.last())["note_id"] == 1, "a read is attributed too"
    await desk.note("update", note_id=1, content="They burn gas.", tags=["gas", "light"])
    row = await desk.db(Note.objects.get)
    assert (row.title, row.content, row.tags, row.note_type) == (
        "Lamps", "They burn gas.", ["gas", "light"], "conclusion",
    )  # fmt: skip
    await desk.note("delete", note_id=1)
    assert not await desk.db(Note.objects.exists)
    said = [(e.type, e.data.get("action"), e.data["note_id"]) for e in
            await desk.events("note.saved", "note.deleted")]  # fmt: skip
    assert said == [
        ("note.saved", "create", 1), ("note.saved", "update", 1), ("note.deleted", None, 1),
    ]  # fmt: skip
    calls = {e.data["tool_call_id"] for e in await desk.events("note.saved", "note.deleted")}
    assert len(calls) == 3


async def test_notes_are_listed_found_and_summed_up(desk: Desk) -> None:
    assert await desk.note("list") == "There are no notes."
    await desk.note("create", title="Lamps", content="They burn oil.")
    await desk.note("create", title="Horns", content="In fog.", note_type="blocker", tags=["Oil"])
    await desk.note("create", title="Keepers", content="Few.")
    assert await desk.note("list", limit=2) == "1. [general] Lamps\n2. [blocker] Horns (Oil)"
    assert await desk.note("search", query="OIL") == "1. [general] Lamps\n2. [blocker] Horns (Oil)"
    assert await desk.note("search", query="oil fog") == "2. [blocker] Horns (Oil)"
    assert await desk.note("search", query="whales") == "There are no notes."
    assert await desk.note("summary") == "3 notes\ngeneral: 2\nblocker: 1"
    assert await desk.note("list", limit=-5) == "1. [general] Lamps"


@pytest.mark.parametrize(
    ("action", "args", "said"),
    [
        ("create", {"title": "T"}, "needs"),
        ("create", {"content": "C"}, "needs"),
        ("create", {"title": "T", "content": "x" * (CONTENT_LENGTH + 1)}, "at most"),
        ("read", {}, "note_id"),
        ("update", {}, "note_id"),
        ("delete", {}, "note_id"),
        ("read", {"note_id": 7}, "There is no note 7"),
        ("update", {"note_id": -1, "content": "C"}, "There is no note -1"),
        ("delete", {"note_id": 10**30}, "There is no note"),
        ("search", {}, "query"),
        ("search", {"query": ""}, "query"),
    ],
)
async def test_wrong_arguments_are_told_to_the_model_and_shown(
    desk: Desk, action: str, args: dict[str, Any], said: str
) -> None:
    with pytest.raises(ModelRetry, match=said):
        await desk.note(action, **args)
    last = await desk.last()
    assert (last["status"], last["code"]) == ("error", "tool_retry")
    assert said in last["result"]
    assert not await desk.db(Note.objects.exists)


async def test_the_longest_note_is_taken_in_any_script(desk: Desk) -> None:
    text = "字" * CONTENT_LENGTH
    await desk.note("create", title="字" * 500, content=text, tags=["字" * 500] * 500)
    row = await desk.db(Note.objects.get)
    assert (row.content, len(row.title), len(row.tags)) == (text, 300, 20)
    assert (await desk.note("read", note_id=1)).endswith(text)


async def test_what_no_database_takes_is_cleaned_out_of_a_note(desk: Desk) -> None:
    await desk.note("create", title="a\0", content="b\ud800", tags=["c\0"])
    row = await desk.db(Note.objects.get)
    assert (row.title, row.content, row.tags) == ("a\ufffd", "b\ufffd", ["c\ufffd"])


async def test_a_note_of_another_run_cannot_be_reached(
    readers: Readers, user: User, rival: User, desk: Desk
) -> None:
    (theirs,) = await seat(readers, rival, "Theirs")
    (mine_too,) = await seat(readers, user, "Another of mine")
    await theirs.note("create", title="Secret", content="lamp")
    for other in (desk, mine_too):
        for action in ("read", "update", "delete"):
            with pytest.raises(ModelRetry, match="There is no note 1"):
                await other.note(action, note_id=1, content="mine now")
        assert await other.note("list") == "There are no notes."
        assert await other.note("search", query="lamp") == "There are no notes."
        assert await other.note("summary") == "0 notes"
    row = await desk.db(Note.objects.get)
    assert (row.run_id, row.content) == (theirs.steps.run.pk, "lamp")


async def test_members_of_a_run_read_each_others_notes(readers: Readers, user: User) -> None:
    first, second = await seat(readers, user, "One", "Two")
    await first.note("create", title="T", content="From the first.")
    assert "From the first." in await second.note("read", note_id=1)
    finished = (await second.events("tool.finished"))[-1]
    assert (finished.source_member, finished.data["note_id"]) == ("researcher-2", 1)


async def test_a_note_deleted_by_another_member_a_moment_ago_is_no_bug(
    readers: Readers, user: User
) -> None:
    first, second = await seat(readers, user, "One", "Two")
    for number in range(1, 6):
        await first.note("create", title="T", content="C")
        answers = await asyncio.gather(
            first.note("delete", note_id=number),
            second.note("delete", note_id=number),
            return_exceptions=True,
        )
        kinds = sorted(type(answer).__name__ for answer in answers)
        assert kinds == ["ModelRetry", "str"]


# --- search ------------------------------------------------------------------------------------
async def test_a_search_numbers_its_sources_and_quotes_them_at_their_offsets(
    collection: Collection, desk: Desk
) -> None:
    answer = await desk.search("Fresnel lens lamp")
    assert isinstance(answer.metadata, dict)
    passages = answer.metadata["passages"]
    assert passages
    rows = {row.source_id: row for row in await desk.db(_sources)}
    for passage in passages:
        archive = rows[passage["source"]].archive
        assert archive.text[passage["start"] : passage["end"]] == passage["text"]
        marker = f"[S{passage['source']}:{passage['start']}-"
        assert marker in str(answer.return_value)
    assert "Fresnel lens" in passages[0]["text"]
    (finished,) = await desk.events("tool.finished")
    assert finished.data["result"] == answer.return_value
    assert (finished.data["backend"], finished.data["source_ids"]) == ("library", list(rows))
    found = await desk.events("source.found")
    assert [event.data["source_id"] for event in found] == list(rows)
    assert answer.metadata["documents"] > 0
    assert "metadata" not in str(finished.data)


def _sources() -> list[Source]:
    return list(Source.objects.select_related("archive"))


async def test_a_search_that_finds_nothing_says_so(collection: Collection, desk: Desk) -> None:
    answer = await desk.search("quantum chromodynamics")
    assert answer.return_value == "Nothing was found."
    assert (await desk.last())["status"] == "ok"


async def test_a_search_sees_only_what_its_user_may_read(
    collection: Collection, readers: Readers, rival: User
) -> None:
    (theirs,) = await seat(readers, rival, "One")
    answer = await theirs.search("lighthouse lamp")
    assert answer.return_value == "There is no collection to search."
    assert not await theirs.events("source.found")


async def test_a_notice_of_a_provider_comes_before_its_passages(
    collection: Collection, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(*args: Any) -> SearchResult:
        return SearchResult("library", "q", notice="The library is being indexed.")

    monkeypatch.setattr("research.tools.search.library.LibrarySearch.search", down)
    assert (await desk.search("q")).return_value == "The library is being indexed."
