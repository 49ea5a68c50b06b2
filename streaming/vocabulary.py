"""The data of each type of event. A type that is not here is refused by our own writers."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from .events import BlobRef, Data, Ended
from .members import Role
from .text import clean, clean_json

Text = Annotated[str, BeforeValidator(clean)]
Json = Annotated[dict[str, Any], BeforeValidator(clean_json)]
CUSTOM = re.compile(r"custom\.[a-z0-9_][a-z0-9_.-]{0,59}")


class Part(BaseModel):
    """A value inside an event's data."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# --- the run -----------------------------------------------------------------------------------
class RunStarted(Data, type="run.started"):
    """A run has begun."""

    topic: Text
    language: str = "en"
    options: Json = {}
    parent: str | None = None


class RunCompleted(Data, type="run.completed"):
    """A run has ended with a report. `partial`: some of its work failed."""

    partial: bool = False
    gaps: list[int] = []  # task ids that brought nothing


class RunFailed(Data, type="run.failed"):
    """A run has ended without a report."""

    code: str
    message: Text


class RunCancelled(Data, type="run.cancelled"):
    """A run was stopped by a person."""

    by: Text | None = None


class RunCancelling(Data, type="run.cancelling"):
    """Somebody asked for a run to be stopped."""

    by: Text | None = None


class RunFinishing(Data, type="run.finishing"):
    """Somebody asked for the report to be written from what is there."""

    by: Text | None = None


class RunPaused(Data, type="run.paused"):
    """Somebody asked a run to wait."""

    by: Text | None = None


class RunResumed(Data, type="run.resumed"):
    """A paused run goes on."""

    by: Text | None = None


# --- the team ----------------------------------------------------------------------------------
class TeamReady(Data, type="team.ready"):
    """A team is there and begins."""

    team_name: Text
    session_id: str
    activation_kind: Literal[
        "create", "new_team_in_session", "cold_recover", "resume_from_pause"
    ] = "create"


class TeamIdle(Data, type="team.idle"):
    """Every member of a team rests, and nothing is left to do."""

    members: dict[str, str]  # name: status


class TeamCompleted(Data, type="team.completed"):
    """A team has done its work."""

    member_count: int
    task_count: int


class TeamInteractFailed(Data, type="team.interact_failed"):
    """What a person said could not be passed on."""

    reason: Text
    input_id: str | None = None


class MemberJoined(Data, type="member.joined"):
    """A member belongs to the team."""

    name: Text
    role: Role
    display_name: Text | None = None


class MemberStatus(Data, type="member.status"):
    """A member works, or rests."""

    name: Text
    status: Literal["ready", "busy", "paused", "stopped", "error"]


# --- the plan and its tasks --------------------------------------------------------------------
class PlanTask(Part):
    """A task as the plan has it."""

    task_id: int
    step: int
    title: Text
    intent: Text = ""
    query: Text
    status: str = "pending"


class PlanProposed(Data, type="plan.proposed"):
    """The leader has a plan."""

    tasks: list[PlanTask]


class PlanApproved(Data, type="plan.approved"):
    """A person agrees to the plan."""

    by: Text | None = None


class PlanUpdated(Data, type="plan.updated"):
    """The plan is another one."""

    tasks: list[PlanTask]
    by: Text | None = None


class WorkStarted(Data, type="work.started"):
    """An attempt at a piece of work has begun."""

    member: Text


class WorkFinished(Data, type="work.finished"):
    """An attempt at a piece of work has ended."""

    status: Ended
    code: str | None = None
    message: Text | None = None


class TaskStarted(Data, type="task.started"):
    """A member has taken up a task."""

    title: Text
    intent: Text = ""
    query: Text
    note_id: int | None = None


class TaskCompleted(Data, type="task.completed"):
    """A task is answered."""

    summary: Text
    source_ids: list[int] = []
    note_id: int | None = None


class TaskFailed(Data, type="task.failed"):
    """A task could not be done."""

    code: str
    message: Text


class TaskSkipped(Data, type="task.skipped"):
    """A task brought nothing."""

    reason: Text


class TaskCancelled(Data, type="task.cancelled"):
    """A task was stopped: with its run, or for the report to be written."""


# --- agents, models and what they say ----------------------------------------------------------
class AgentStarted(Data, type="agent.started"):
    """A member has begun an activity."""

    agent_name: Text
    display_name: Text | None = None


class AgentFinished(Data, type="agent.finished"):
    """A member has ended an activity."""

    agent_name: Text
    status: Ended = "completed"


class LLMStarted(Data, type="llm.started"):
    """A model is asked."""

    llm_id: str
    agent_name: Text
    display_name: Text | None = None
    model: Text | None = None


class LLMFinished(Data, type="llm.finished"):
    """A model has answered."""

    llm_id: str
    agent_name: Text
    status: Ended = "completed"
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class MessageStarted(Data, type="message.started"):
    """A member begins to say something."""

    message_id: str
    kind: Literal["text", "summary", "section"] = "text"
    title: Text | None = None
    section: int | None = None


class MessageDelta(Data, type="message.delta"):
    """The next piece of what a member says."""

    message_id: str
    delta: Text


class MessageCompleted(Data, type="message.completed", long="text"):
    """All of what a member said."""

    message_id: str
    text: Text
    status: Ended = "completed"
    blob: BlobRef | None = None


class ReasoningStarted(Data, type="reasoning.started"):
    """A model begins to think aloud."""

    message_id: str


class ReasoningDelta(Data, type="reasoning.delta"):
    """The next piece of its thoughts."""

    message_id: str
    delta: Text


class ReasoningCompleted(Data, type="reasoning.completed", long="text"):
    """All of its thoughts."""

    message_id: str
    text: Text
    status: Ended = "completed"
    blob: BlobRef | None = None


# --- tools and what they bring -----------------------------------------------------------------
class ToolStarted(Data, type="tool.started"):
    """A tool is used. `args` is absent where they come piece by piece."""

    tool_call_id: str
    tool: Text
    args: Json | None = None


class ToolArgs(Data, type="tool.args"):
    """Some of a tool's arguments."""

    tool_call_id: str
    tool: Text | None = None
    delta: Json


class ToolFinished(Data, type="tool.finished", long="result"):
    """What came of it."""

    tool_call_id: str
    tool: Text
    status: Literal["ok", "error", "interrupted", "cancelled"] = "ok"
    result: Text = ""
    blob: BlobRef | None = None
    code: str | None = None
    duration_ms: int | None = None
    backend: str | None = None
    note_id: int | None = None
    source_ids: list[int] = []


class SourceFound(Data, type="source.found", long="context"):
    """A page, document or result was found. It may be told again, by who else found it."""

    source_id: int
    title: Text
    uri: Text
    provider: str
    tool_call_id: str | None = None
    document_id: int | None = None
    context: Text = ""
    blob: BlobRef | None = None


class SourceFetched(Data, type="source.fetched"):
    """The text of a source is archived."""

    source_id: int
    hash: str
    length: int
    media_type: str = ""
    published: str = ""


class NoteSaved(Data, type="note.saved", long="content"):
    """A note was written or changed."""

    note_id: int
    action: Literal["create", "update"] = "create"
    title: Text
    note_type: str = "general"
    tags: list[Text] = []
    content: Text
    tool_call_id: str | None = None
    blob: BlobRef | None = None


class NoteDeleted(Data, type="note.deleted"):
    """A note is gone."""

    note_id: int
    tool_call_id: str | None = None


# --- the report --------------------------------------------------------------------------------
class CitationRef(Part):
    """Where a number in a section leads: to code points of a source's text."""

    number: int
    source_id: int
    start: int | None = None
    end: int | None = None


class ReportSection(Data, type="report.section", long="text"):
    """A section of the report is written: Markdown, in which `[n]` is a citation."""

    section: int
    kind: Literal["lead", "task"]
    title: Text
    task_id: int | None = None
    text: Text  # Markdown; citations stand as [n]
    citations: list[CitationRef] = []
    stripped: list[Text] = []  # markers and links that led to no stored source
    blob: BlobRef | None = None


class ReportCompleted(Data, type="report.completed", long="text"):
    """The whole report, as Markdown."""

    title: Text
    text: Text
    blob: BlobRef | None = None


class CitationChecked(Data, type="citation.checked"):
    """What the verifier says of a citation."""

    number: int
    section: int
    source_id: int
    verdict: Literal["supported", "partly", "not_found"]
    reason: str
    quote: Text = ""
    start: int | None = None
    end: int | None = None
    brought_by: Text | None = None


# --- limits, people, and the rest --------------------------------------------------------------
class UsageUpdated(Data, type="usage.updated"):
    """What a run has used so far."""

    requests: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None


class LimitReached(Data, type="limit.reached"):
    """A limit stopped something."""

    limit: str
    value: float
    message: Text | None = None


class Waiting(Data, type="waiting"):
    """Something waits, and for how long."""

    seconds: float
    reason: Text


class InputRequested(Data, type="input.requested"):
    """A person is asked."""

    input_id: str
    kind: Literal["clarify", "approve"]
    prompt: Text


class InputReceived(Data, type="input.received"):
    """A person has answered, or spoke unasked, to one member or (without `to`) to all of them."""

    input_id: str | None = None
    text: Text
    to: Text | None = None


class InputHeard(Data, type="input.heard"):
    """What a person said is in the prompts of the member that speaks, from the next one on."""

    input_id: str


class AttemptDiscarded(Data, type="attempt.discarded"):
    """An attempt is void: what it brought is gone, and its work is done again."""

    work: str
    attempt: int
    reason: Text


class ErrorShown(Data, type="error.shown"):
    """An error to be seen; the run goes on."""

    message: Text
    code: str = "error"
    error_id: str | None = None


class Status(Data, type="status"):
    """A word about what is going on; `code` and what it is about are for programs."""

    message: Text
    code: str | None = None
    about: list[Text] | None = None


class Custom(Data):
    """The data of `custom.*`: whatever its sender put there."""

    model_config = ConfigDict(frozen=True, extra="allow")

    def encode(self) -> str:
        """Return the data as JSON, with what is None."""
        return self.__pydantic_serializer__.to_json(self).decode()
