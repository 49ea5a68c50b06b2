"""Steps of the fold: models, messages, tools."""

from __future__ import annotations

from msgspec.structs import replace

from research.cards import MessageCard, ToolCard
from research.state import RunState
from research.text.markers import NOTHING_TO_ADD
from streaming.events import Event

from .steps import act, base, change, on


def _use(state: RunState, event: Event, **used: int) -> None:
    """Add to what the member that speaks has used."""
    name = event.source_member or ""
    if card := state.members.get(name):
        sums = {key: getattr(card, key) + amount for key, amount in used.items()}
        change(state.members, name, event, **sums)


@on("llm.started")
def _llm_started(state: RunState, event: Event) -> None:
    _use(state, event, calls=1)
    act(state, event, "asking")


@on("llm.finished")
def _llm_finished(state: RunState, event: Event) -> None:
    used = {key: event.data.get(key) or 0 for key in ("input_tokens", "output_tokens")}
    _use(state, event, **used)


@on("reasoning.started")
def _reasoning_started(state: RunState, event: Event) -> None:
    act(state, event, "thinking")


@on("agent.finished")
def _agent_finished(state: RunState, event: Event) -> None:
    act(state, event, "")


@on("message.started")
def _message_started(state: RunState, event: Event) -> None:
    data = event.data
    state.messages[data["message_id"]] = MessageCard(
        **base(event),
        message_id=data["message_id"],
        kind=data.get("kind", "text"),
        title=data.get("title"),
        section=data.get("section"),
    )
    state.texts[data["message_id"]] = []
    act(state, event, "writing", data.get("title") or "")


@on("message.delta")
def _message_delta(state: RunState, event: Event) -> None:
    message_id = event.data["message_id"]
    if card := state.messages.get(message_id):
        pieces = state.texts[message_id]
        if not pieces or pieces[-1][0] < event.seq:  # else a fold that came to nothing was here
            pieces.append((event.seq, event.data["delta"]))
        length = card.length + len(event.data["delta"])
        state.messages[message_id] = replace(card, changed=event.seq, length=length)


@on("message.completed")
def _message_completed(state: RunState, event: Event) -> None:
    data = event.data
    message_id = data["message_id"]
    card = state.messages.get(message_id)
    if card and card.kind == "section" and data["text"].strip() == NOTHING_TO_ADD:
        del state.messages[message_id]  # no section takes its place
        state.dropped[f"message:{message_id}"] = event.seq
        return
    blob = data.get("blob") or {}
    length = blob.get("length", len(data["text"]))
    if not state.texts.get(message_id):
        state.texts[message_id] = [(event.seq, data["text"])]
    change(
        state.messages,
        message_id,
        event,
        status=data.get("status", "completed"),
        blob=blob.get("hash"),
        length=length,
    )


@on("tool.started")
def _tool_started(state: RunState, event: Event) -> None:
    data = event.data
    state.tools[data["tool_call_id"]] = ToolCard(
        **base(event),
        tool_call_id=data["tool_call_id"],
        tool=data["tool"],
        args=data.get("args", {}),
    )
    args, name = data.get("args", {}), event.source_member or ""
    about = args.get("query") or args.get("url") or args.get("title") or ""
    act(state, event, data["tool"], str(about)[:120])
    if card := state.members.get(name):
        tools = {**card.tools, data["tool"]: card.tools.get(data["tool"], 0) + 1}
        change(state.members, name, event, tools=tools)


@on("tool.args")
def _tool_args(state: RunState, event: Event) -> None:
    card = state.tools.get(event.data["tool_call_id"])
    if card:
        args = {**card.args, **event.data["delta"]}
        change(state.tools, card.tool_call_id, event, args=args)


@on("tool.finished")
def _tool_finished(state: RunState, event: Event) -> None:
    data = event.data
    blob = data.get("blob") or {}
    change(
        state.tools,
        data["tool_call_id"],
        event,
        status=data.get("status", "ok"),
        result=data.get("result", ""),
        blob=blob.get("hash"),
        length=blob.get("length", len(data.get("result", ""))),
        code=data.get("code"),
        backend=data.get("backend"),
        duration_ms=data.get("duration_ms"),
        source_ids=data.get("source_ids", []),
        note_id=data.get("note_id"),
    )
