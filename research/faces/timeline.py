"""The timeline: what was done, call by call, in one lane a task or one lane a member.

Each item knows its container in both groupings; a page shows it in the one that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from research.cards import Card, MemberCard, MessageCard, MomentCard, NoteCard, TaskCard, ToolCard

from .facts import LEAD, REPORT, Facts
from .piece import Piece

Text = Callable[[], str]


def task_lane(facts: Facts, task: TaskCard, *, alone: bool) -> Iterator[Piece]:
    """Yield a task's lane, and what its head tells; `alone` on a page of its own."""
    token = task.stream_token or ""
    head, now, items = f"head_{token}", f"now_{token}", f"items_{token}"
    if not alone:
        data: dict[str, Any] = {"task_id": task.task_id}
        order, holds = task.task_id or 0, (head, now, items)
        yield Piece(f"lane-{token}", "timeline", order, "lane", task.born, data, holds=holds)
    member = facts.carrier(task)
    changed = max(task.changed, member.born if member else 0)
    data = {"task": task, "member": member}
    yield Piece(f"lanehead-{token}", head, 0, "lanehead", changed, data)
    yield _now(facts, token, [member] if member else [], max(task.changed, facts.ended))


def other_lanes(facts: Facts) -> Iterator[Piece]:
    """Yield what the lanes of leader and writer tell, and the lanes of members."""
    members = facts.state.members.values()
    led = [m for m in members if m.role == "leader"]
    yield _now(facts, LEAD, led, facts.ended)
    wrote = [m for m in members if m.stream_token == REPORT]
    yield _now(facts, REPORT, wrote, max([facts.ended, *(m.changed for m in members)]))
    for member in members:
        key = facts.keys[member.name]
        token = f"by_{key}"
        head, now, items = f"head_{token}", f"now_{token}", f"items_{token}"
        data: dict[str, Any] = {"key": key}
        order, holds = member.index, (head, now, items)
        yield Piece(f"lane-{token}", "team_lanes", order, "lane", member.born, data, holds=holds)
        data = {"member": member}
        yield Piece(f"lanehead-{token}", head, 0, "memberhead", member.changed, data)
        yield _now(facts, token, [member], facts.ended)


def _now(facts: Facts, token: str, members: list[MemberCard], changed: int) -> Piece:
    """Return the one live line of a lane: what is being done there, and how much was."""
    tally = facts.tallies[f"items_{token}"]
    here = [m for m in members if token.startswith("by_") or facts.token(m) == token]
    active = [member for member in here if facts.is_active(member)]
    settled = max(tally.changed, facts.joined, changed)
    changed = max([settled, *(member.changed for member in members)])
    data: dict[str, Any] = {"active": active, "tally": tally}
    return Piece(f"now-{token}", f"now_{token}", 0, "now", changed, data)


def item(facts: Facts, card: Card) -> Piece | None:
    """Return what stands for a card in the timeline."""
    into, by = f"items_{facts.token(card)}", facts.by(card)
    settled = facts.settled(card)
    changed = max(card.changed, settled)
    data: dict[str, Any] = {
        "card": card,
        "member": facts.member(card),
        "key": facts.keys.get(card.member or "", ""),
    }
    place: dict[str, Any] = {"into": into, "by": by, "order": card.born}
    match card:
        case ToolCard():
            name = f"tool-{card.tool_call_id}"
            return Piece(name, template="tool", changed=changed, data=data, **place)
        case NoteCard():
            name = f"note-{card.note_id}"
            return Piece(name, template="note", changed=changed, data=data, **place)
        case MomentCard():
            name = f"moment-{card.born}"
            return Piece(name, template="moment", changed=changed, data=data, **place)
        case MessageCard(kind="section") if card.section is not None:
            if card.status == "streaming":
                changed = settled  # its text is not shown here
            name = f"line-{card.message_id}"
            return Piece(name, template="line", changed=changed, data=data, **place)
        case MessageCard():
            return said(facts, card, into, card.born, by)
    return None


def said(facts: Facts, card: MessageCard, into: str, order: int, by: str = "") -> Piece:
    """Return a message: growing text while it comes, Markdown when it is there."""
    settled = facts.settled(card)
    back = facts.state.dropped.get(f"section:{card.section}", 0) if card.section else 0
    settled = max(settled, back)
    text: Text = partial(facts.state.text_of, card.message_id)
    data: dict[str, Any] = {
        "card": card,
        "member": facts.member(card),
        "key": facts.keys.get(card.member or "", ""),
        "text": text,
    }
    live = card.status == "streaming"
    return Piece(
        f"msg-{card.message_id}",
        into,
        order,
        "streaming" if live else "message",
        max(card.changed, settled),
        data,
        message=card.message_id if live else "",
        settled=settled,
        by=by,
    )
