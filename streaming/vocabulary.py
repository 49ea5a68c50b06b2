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
    topic: Text
    language: str = "en"
    options: Json = {}
    parent: str | None = None


class RunCompleted(Data, type="run.completed"):
    partial: bool = False
    gaps: list[int] = []  # task ids that brought nothing


class RunFailed(Data, type="run.failed"):
    code: str
    message: Text


class RunCancelled(Data, type="run.cancelled"):
    by: Text | None = None


class RunCancelling(Data, type="run.cancelling"):
    by: Text | None = None


class RunPaused(Data, type="run.paused"):
    by: Text | None = None


class RunResumed(Data, type="run.resumed"):
    by: Text | None = None


# --- the team ----------------------------------------------------------------------------------
class TeamReady(Data, type="team.ready"):
    team_name: Text
    session_id: str
    activation_kind: Literal[
        "create", "new_team_in_session", "cold_recover", "resume_from_pause"
    ] = "create"


class TeamIdle(Data, type="team.idle"):
    members: dict[str, str]  # name: status


class TeamCompleted(Data, type="team.completed"):
    member_count: int
    task_count: int


class TeamInteractFailed(Data, type="team.interact_failed"):
    reason: Text


class MemberJoined(Data, type="member.joined"):
    name: Text
    role: Role
    display_name: Text | None = None


class MemberStatus(Data, type="member.status"):
    name: Text
    status: Literal["ready", "busy", "paused", "stopped", "error"]


# --- the plan and its tasks --------------------------------------------------------------------
class PlanTask(Part):
    task_id: int
    step: int
    title: Text
    intent: Text = ""
    query: Text
    status: str = "pending"


class PlanProposed(Data, type="plan.proposed"):
    tasks: list[PlanTask]


class PlanApproved(Data, type="plan.approved"):
    by: Text | None = None


class PlanUpdated(Data, type="plan.updated"):
    tasks: list[PlanTask]
    by: Text | None = None


class WorkStarted(Data, type="work.started"):
    member: Text


class WorkFinished(Data, type="work.finished"):
    status: Ended
    code: str | None = None
    message: Text | None = None


class TaskStarted(Data, type="task.started"):
    title: Text
    intent: Text = ""
    query: Text
    note_id: int | None = None


class TaskCompleted(Data, type="task.completed"):
    summary: Text
    source_ids: list[int] = []
    note_id: int | None = None


class TaskFailed(Data, type="task.failed"):
    code: str
    message: Text


class TaskSkipped(Data, type="task.skipped"):
    reason: Text


class TaskCancelled(Data, type="task.cancelled"):
    pass


# --- agents, models and what they say ----------------------------------------------------------
class AgentStarted(Data, type="agent.started"):
    agent_name: Text
    display_name: Text | None = None


class AgentFinished(Data, type="agent.finished"):
    agent_name: Text
    status: Ended = "completed"


class LLMStarted(Data, type="llm.started"):
    llm_id: str
    agent_name: Text
    display_name: Text | None = None
    model: Text | None = None


class LLMFinished(Data, type="llm.finished"):
    llm_id: str
    agent_name: Text
    status: Ended = "completed"
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class MessageStarted(Data, type="message.started"):
    message_id: str
    kind: Literal["text", "summary", "section"] = "text"
    title: Text | None = None
    section: int | None = None


class MessageDelta(Data, type="message.delta"):
    message_id: str
    delta: Text


class MessageCompleted(Data, type="message.completed", long="text"):
    message_id: str
    text: Text
    status: Ended = "completed"
    blob: BlobRef | None = None


class ReasoningStarted(Data, type="reasoning.started"):
    message_id: str


class ReasoningDelta(Data, type="reasoning.delta"):
    message_id: str
    delta: Text


class ReasoningCompleted(Data, type="reasoning.completed", long="text"):
    message_id: str
    text: Text
    status: Ended = "completed"
    blob: BlobRef | None = None


# --- tools and what they bring -----------------------------------------------------------------
class ToolStarted(Data, type="tool.started"):
    tool_call_id: str
    tool: Text
    args: Json | None = None


class ToolArgs(Data, type="tool.args"):
    tool_call_id: str
    tool: Text | None = None
    delta: Json


class ToolFinished(Data, type="tool.finished", long="result"):
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
    source_id: int
    title: Text
    uri: Text
    provider: str
    tool_call_id: str | None = None
    document_id: int | None = None
    context: Text = ""
    blob: BlobRef | None = None


class SourceFetched(Data, type="source.fetched"):
    source_id: int
    hash: str
    length: int


class NoteSaved(Data, type="note.saved", long="content"):
    note_id: int
    action: Literal["create", "update"] = "create"
    title: Text
    note_type: str = "general"
    tags: list[Text] = []
    content: Text
    tool_call_id: str | None = None
    blob: BlobRef | None = None


class NoteDeleted(Data, type="note.deleted"):
    note_id: int
    tool_call_id: str | None = None


# --- the report --------------------------------------------------------------------------------
class CitationRef(Part):
    number: int
    source_id: int
    start: int | None = None
    end: int | None = None


class ReportSection(Data, type="report.section", long="text"):
    section: int
    kind: Literal["lead", "task"]
    title: Text
    task_id: int | None = None
    text: Text  # Markdown; citations stand as [n]
    citations: list[CitationRef] = []
    stripped: list[Text] = []  # markers and links that led to no stored source
    blob: BlobRef | None = None


class ReportCompleted(Data, type="report.completed", long="text"):
    title: Text
    text: Text
    blob: BlobRef | None = None


class CitationChecked(Data, type="citation.checked"):
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
    requests: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None


class LimitReached(Data, type="limit.reached"):
    limit: str
    value: float
    message: Text | None = None


class Waiting(Data, type="waiting"):
    seconds: float
    reason: Text


class InputRequested(Data, type="input.requested"):
    input_id: str
    kind: Literal["clarify", "approve"]
    prompt: Text


class InputReceived(Data, type="input.received"):
    input_id: str | None = None
    text: Text


class AttemptDiscarded(Data, type="attempt.discarded"):
    work: str
    attempt: int
    reason: Text


class ErrorShown(Data, type="error.shown"):
    message: Text
    code: str = "error"
    error_id: str | None = None


class Status(Data, type="status"):
    message: Text


class Custom(Data):
    """The data of `custom.*`: whatever its sender put there."""

    model_config = ConfigDict(frozen=True, extra="allow")
