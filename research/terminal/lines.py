"""The log in words, a line an event: who did what. Most events are no line of their own."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from rich.text import Text

from research.cards import MemberCard, ToolCard
from research.errors import in_words
from research.state import RunState
from research.templatetags.research import called, duration, found, query, word
from streaming.events import Event

COLOURS = (
    "cyan", "yellow", "blue", "magenta", "green", "bright_red", "bright_cyan", "bright_yellow",
)  # fmt: skip
NAME_WIDTH = 14
LENGTH = 200

Teller = Callable[[RunState, Event], str]
TELLERS: dict[str, Teller] = {}


def tells(*types: str) -> Callable[[Teller], Teller]:
    """Say which events a function has a line for; it returns nothing where there is none."""

    def remember(teller: Teller) -> Teller:
        TELLERS.update(dict.fromkeys(types, teller))
        return teller

    return remember


def line_of(state: RunState, event: Event) -> Text | None:
    """Return an event as a line, with its member's name in its colour; None if it has none."""
    teller = TELLERS.get(event.type)
    told = teller(state, event) if teller else ""
    if not told:
        return None
    member = state.members.get(event.source_member or "")
    line = Text(end="")
    line.append_text(name_of(member, event.source_member))
    line.append("  " + plain(told))
    return line


def name_of(member: MemberCard | None, speaker: str | None = None) -> Text:
    """Return a member's name in its colour, as wide as every other one's."""
    name = plain(called(member) if member else speaker or called(None))
    style = COLOURS[member.index % len(COLOURS)] if member else "bold"
    text = Text(name, style=style)
    text.truncate(NAME_WIDTH, overflow="ellipsis", pad=True)
    return text


def plain(text: str, length: int = LENGTH) -> str:
    """Return a text on one line, without a character that a terminal or a reader would obey."""
    kept = "".join(
        sign if unicodedata.category(sign)[0] != "C" else " " for sign in text[: 4 * length]
    )
    line = " ".join(kept.split())
    return line if len(line) <= length else f"{line[:length]}…"


def fill(text: str, parts: Mapping[str, Any]) -> str:
    """Return a translated text with its named parts filled in."""
    filled: str = text % parts
    return filled


def _words(data: Mapping[str, Any]) -> str:
    """Return the sentence of an event, in the language of the terminal."""
    return in_words(data.get("message") or data.get("reason") or "", data.get("code"))


@tells("run.started")
def _run_started(state: RunState, event: Event) -> str:
    return fill(_("asks: %(topic)s"), event.data)


@tells("plan.proposed", "plan.updated")
def _plan(state: RunState, event: Event) -> str:
    titles = "; ".join(f"{task['step']}. {task['title']}" for task in event.data["tasks"])
    return fill(_("plans: %(titles)s"), {"titles": titles})


@tells("task.started")
def _task_started(state: RunState, event: Event) -> str:
    return fill(_("takes up “%(title)s”"), event.data)


@tells("task.completed", "task.failed", "task.skipped", "task.cancelled")
def _task_ended(state: RunState, event: Event) -> str:
    task = state.tasks.get(event.task_id or 0)
    title, status = task.title if task else "", word(event.type.removeprefix("task."))
    why = _words(event.data)
    told = f"{status}: “{title}”"
    return f"{told} ({why})" if why else told


@tells("tool.finished")
def _tool_finished(state: RunState, event: Event) -> str:
    card = state.tools.get(event.data["tool_call_id"])
    if card is None or (card.tool == "note" and card.note_id and card.status == "ok"):
        return ""  # a note that is saved has a line of its own
    asked = query(card.args)
    parts = [word(card.tool) + (f" “{asked}”" if asked else "")]
    parts += [found(len(card.source_ids))] if card.source_ids else []
    parts += [duration(card.duration_ms)] if card.duration_ms is not None else []
    parts += [_failure(card)] if card.status != "ok" else []
    return " · ".join(parts)


def _failure(card: ToolCard) -> str:
    return f"{word(card.status)}: {card.result}" if card.result else word(card.status)


@tells("note.saved")
def _note_saved(state: RunState, event: Event) -> str:
    return fill(_("writes down “%(title)s”"), event.data)


@tells("report.section")
def _report_section(state: RunState, event: Event) -> str:
    return fill(_("wrote “%(title)s”"), event.data)


@tells("attempt.discarded")
def _attempt_discarded(state: RunState, event: Event) -> str:
    return f"{word(event.type)}: {event.data['work']} ({_words(event.data)})"


@tells("error.shown", "limit.reached", "waiting", "status", "team.interact_failed")
def _moment(state: RunState, event: Event) -> str:
    told = _words(event.data) or event.data.get("limit") or ""
    return str(told) if event.type == "status" else f"{word(event.type)}: {told}"


@tells("input.received")
def _input_received(state: RunState, event: Event) -> str:
    return fill(_("says: %(text)s"), event.data)


@tells("run.paused", "run.resumed", "run.finishing", "run.cancelling")
@tells("run.failed", "run.cancelled")
def _run_changed(state: RunState, event: Event) -> str:
    told = word(event.type.removeprefix("run."))
    why = _words(event.data) or event.data.get("by")
    return f"{told}: {why}" if why else told


@tells("run.completed")
def _run_completed(state: RunState, event: Event) -> str:
    told = _("completed with gaps") if event.data.get("partial") else word("completed")
    counts = state.counts()
    took = duration(max(0, event.ts - state.run.ts))
    return fill(
        _("%(told)s: %(sources)d sources, %(citations)d citations in %(took)s"),
        {**counts, "told": told, "took": took},
    )
