"""A run as its log tells it: what pages and faces are tested with, without an engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from research.models import Archive, Member, Run, RunStatus, Source
from streaming import log
from streaming import vocabulary as v
from streaming.events import Data, Draft, Voice, draft
from streaming.members import Role
from streaming.models import Stream

Said = tuple[Voice, Data]

TOPIC = "How does on_commit behave when a transaction is rolled back?"
PAGE = (
    "Database transactions\n\nDjango's default behavior is to run in autocommit mode.\n\n"
    "Performing actions after commit\n\nSometimes you need to perform an action related to the "
    "current database transaction, but only if the transaction successfully commits. If the "
    "transaction is instead rolled back, the callback is discarded and never called. "
    "回滚时不会执行。\n"
)
QUOTE = "If the transaction is instead rolled back, the callback is discarded and never called."
START = PAGE.index(QUOTE)
END = START + len(QUOTE)

LEADER = Voice(source_member="leader", role=Role.LEADER, work="plan", attempt=1)
WRITER = Voice(
    source_member="writer", role=Role.TEAMMATE, stream_token="report", work="write:1", attempt=1
)
VERIFIER = Voice(
    source_member="verifier", role=Role.TEAMMATE, stream_token="report", work="verify", attempt=1
)
TITLES = ("What on_commit promises", "What a rollback does", "Savepoints <b>and</b> nesting")


def researcher(task: int, attempt: int = 1) -> Voice:
    """Return the voice of a researcher on a task."""
    return Voice(
        source_member=f"researcher-{(task - 1) % 2 + 1}",
        role=Role.TEAMMATE,
        stream_token=f"task_{task}",
        step=task,
        task_id=task,
        work=f"task:{task}",
        attempt=attempt,
    )


def opening() -> Iterator[Said]:
    """The question, the team, the plan."""
    yield Voice(), v.RunStarted(topic=TOPIC, language="en")
    for name in ("leader", "researcher-1", "researcher-2", "writer", "verifier"):
        role = Role.LEADER if name == "leader" else Role.TEAMMATE
        yield Voice(), v.MemberJoined(name=name, role=role)
    yield LEADER, v.WorkStarted(member="leader")
    yield LEADER, v.LLMStarted(llm_id="l1", agent_name="leader")
    tasks = [
        v.PlanTask(task_id=n, step=n, title=title, intent="Say it plainly.", query=title.lower())
        for n, title in enumerate(TITLES, 1)
    ]
    yield LEADER, v.PlanProposed(tasks=tasks)
    yield LEADER, v.WorkFinished(status="completed")


def said(
    voice: Voice, message_id: str, text: str, size: int = 12, **started: Any
) -> Iterator[Said]:
    """A message, in pieces."""
    yield voice, v.MessageStarted(message_id=message_id, **started)
    for at in range(0, len(text), size):
        yield voice, v.MessageDelta(message_id=message_id, delta=text[at : at + size])
    yield voice, v.MessageCompleted(message_id=message_id, text=text)


def task(number: int, source: int, attempt: int = 1) -> Iterator[Said]:
    """A task: search, note, summary."""
    voice, call = researcher(number, attempt), f"c{number}-{attempt}"
    title = TITLES[number - 1]
    yield voice, v.WorkStarted(member=voice.source_member or "")
    yield voice, v.MemberStatus(name=voice.source_member or "", status="busy")
    yield voice, v.TaskStarted(title=title, query=title.lower())
    yield voice, v.LLMStarted(llm_id=f"l{call}", agent_name="researcher")
    yield voice, v.ToolStarted(tool_call_id=call, tool="search", args={"query": title.lower()})
    yield (
        voice,
        v.SourceFound(
            source_id=source,
            title=f"Page {source} <script>alert(1)</script>",
            uri=f"https://docs.example/{source}",
            provider="library",
            tool_call_id=call,
            context="Transactions › After commit",
        ),
    )
    yield (
        voice,
        v.ToolFinished(
            tool_call_id=call,
            tool="search",
            result=f"[S{source}:{START}-{END}] {QUOTE}",
            duration_ms=340,
            backend="bm25s",
            source_ids=[source],
        ),
    )
    yield voice, v.ToolStarted(tool_call_id=f"{call}n", tool="note", args={"title": title})
    yield (
        voice,
        v.NoteSaved(
            note_id=number * 10 + attempt,
            title=title,
            note_type="finding",
            tags=["rollback"],
            content=f"- **{QUOTE}** [S{source}:{START}-{END}]",
            tool_call_id=f"{call}n",
        ),
    )
    yield (
        voice,
        v.ToolFinished(tool_call_id=f"{call}n", tool="note", result="Saved.", duration_ms=4),
    )
    summary = f"It is *discarded* [S{source}:{START}-{END}] & never [called] back."
    yield from said(voice, f"m{call}", summary, 7, kind="summary", title=title)


def done(number: int, source: int) -> Iterator[Said]:
    """The end of a task."""
    voice = researcher(number)
    yield voice, v.TaskCompleted(summary="It is discarded.", source_ids=[source])
    yield voice, v.WorkFinished(status="completed")
    yield voice, v.MemberStatus(name=voice.source_member or "", status="ready")


def report() -> Iterator[Said]:
    """Two sections, written and checked, and a gap."""
    for number, title in enumerate(("In short", TITLES[0]), 1):
        voice = WRITER.within(work=f"write:{number}")
        text = f"{QUOTE} [S1:{START}-{END}]\n\n| when | what |\n|---|---|\n| rollback | nothing |"
        yield voice, v.WorkStarted(member="writer")
        yield from said(voice, f"s{number}", text, 9, kind="section", section=number, title=title)
        ref = v.CitationRef(number=number, source_id=1, start=START, end=END)
        yield (
            voice,
            v.ReportSection(
                section=number,
                kind="lead" if number == 1 else "task",
                title=title,
                text=text.replace(f"[S1:{START}-{END}]", f"[{number}]"),
                citations=[ref],
                stripped=["https://evil.example"] if number == 2 else [],
            ),
        )
    yield VERIFIER, v.WorkStarted(member="verifier")
    verdicts: tuple[tuple[int, Any], ...] = ((1, "supported"), (2, "partly"))
    for number, verdict in verdicts:
        yield (
            VERIFIER,
            v.CitationChecked(
                number=number,
                section=number,
                source_id=1,
                verdict=verdict,
                reason="quote",
                quote=QUOTE,
                start=START,
                end=END,
                brought_by="researcher-1",
            ),
        )


def stumbling(voice: Voice) -> Iterator[Said]:
    """A model that thinks, a page that is read, one that is not, and somebody who comes late."""
    guest = Voice(source_member="guest", role=Role.HUMAN_AGENT)
    yield guest, v.Status(message="I look in.")
    yield Voice(), v.MemberJoined(name="guest", role=Role.HUMAN_AGENT, display_name="Ada")
    yield voice, v.LLMStarted(llm_id="l3", agent_name="researcher")
    yield voice, v.ReasoningStarted(message_id="r3")
    yield (
        voice,
        v.LLMFinished(llm_id="l3", agent_name="researcher", input_tokens=1200, output_tokens=34),
    )
    for number, code in enumerate((None, "unreachable"), 1):
        call = f"c3-{number}"
        url = f"https://pages.example/{number}"
        yield voice, v.ToolStarted(tool_call_id=call, tool="fetch", args={"url": url})
        if code is None:
            found = v.SourceFound(source_id=3, title="Savepoints", uri=url, provider="fetch")
            yield voice, found
            yield voice, v.SourceFetched(source_id=3, hash="a" * 64, length=54_321)
        yield (
            voice,
            v.ToolFinished(
                tool_call_id=call,
                tool="fetch",
                status="error" if code else "ok",
                code=code,
                result="No answer." if code else "Savepoints nest. " * 100,
                duration_ms=1250,
            ),
        )


def whole() -> list[Said]:
    """A run from its question to its end, with a task that was begun twice and one that failed."""
    second = researcher(2, 2)
    cut = list(task(2, 2))[:-3]
    third = researcher(3)
    return [
        *opening(),
        *task(1, 1),
        *cut,
        (Voice(), v.Waiting(seconds=2.5, reason="The model asks for patience.")),
        (LEADER, v.AttemptDiscarded(work="task:2", attempt=1, reason="The worker was lost.")),
        *done(1, 1),
        *task(2, 2, attempt=2),
        (second, v.NoteDeleted(note_id=22)),
        (second, v.TaskCompleted(summary="Nothing happens.", source_ids=[2])),
        (third, v.TaskStarted(title=TITLES[2], query="savepoints")),
        *stumbling(third),
        (third, v.ErrorShown(message="The search did not answer.", code="search_down")),
        (third, v.TaskFailed(code="no_source", message="No source says anything about it.")),
        *report(),
        (Voice(), v.RunCompleted(gaps=[3])),
    ]


def drafts(events: Sequence[Said]) -> list[Draft]:
    """Return the events ready to append."""
    return [draft(voice, data) for voice, data in events]


def texts(events: Sequence[Said]) -> list[str]:
    """Return the log of these events as it would be stored."""
    return [item.encode(seq) for seq, item in enumerate(drafts(events), 1)]


def record(user: Any, events: Sequence[Said] | None = None) -> Run:
    """Store a run with this log, and the rows that its pages read."""
    events = whole() if events is None else events
    stream = Stream.objects.create()
    run = Run.objects.create(stream=stream, user=user, topic=TOPIC, status=RunStatus.RUNNING)
    log.append(stream.pk, drafts(events))
    archive, _ = Archive.objects.get_or_create(
        hash=sha256(PAGE.encode()).hexdigest(), defaults={"text": PAGE}
    )
    for number in (1, 2):
        Source.objects.create(
            run=run,
            source_id=number,
            member="researcher-1",
            finders=[["task:1", 1]],
            provider="library",
            title=f"Page {number} <script>alert(1)</script>",
            uri=f"https://docs.example/{number}",
            archive=archive,
        )
    Member.objects.create(run=run, name="leader", role=Role.LEADER)
    if events and isinstance(events[-1][1], v.RunCompleted):
        run.status = RunStatus.COMPLETED
        run.save(update_fields=["status"])
    run.refresh_from_db()
    return run
