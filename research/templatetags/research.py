"""How the parts of a card are told: names, times, statuses, and texts with their links."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from research import errors, rendering
from research.cards import MemberCard, MessageCard, SectionCard, SourceCard
from research.faces.citations import address, link_to, superscript
from streaming import log

register = template.Library()
COLOURS = 8
WORDS = {
    # of runs, tasks, tools, messages and members
    "queued": gettext_lazy("Queued"),
    "running": gettext_lazy("Running"),
    "cancelling": gettext_lazy("Cancelling"),
    "pausing": gettext_lazy("Pausing"),
    "resumed": gettext_lazy("Resumed"),
    "finishing": gettext_lazy("Finishing"),
    "completed": gettext_lazy("Completed"),
    "failed": gettext_lazy("Failed"),
    "cancelled": gettext_lazy("Cancelled"),
    "pending": gettext_lazy("Waiting"),
    "in_progress": gettext_lazy("In progress"),
    "skipped": gettext_lazy("Skipped"),
    "ok": gettext_lazy("Done"),
    "error": gettext_lazy("Error"),
    "interrupted": gettext_lazy("Interrupted"),
    "streaming": gettext_lazy("Writing"),
    "ready": gettext_lazy("Ready"),
    "busy": gettext_lazy("Busy"),
    "paused": gettext_lazy("Paused"),
    "stopped": gettext_lazy("Finished"),
    # of roles
    "leader": gettext_lazy("Leader"),
    "teammate": gettext_lazy("Teammate"),
    "human_agent": gettext_lazy("Person"),
    "passive_human": gettext_lazy("Person"),
    "bridge_agent": gettext_lazy("Bridge"),
    "worker": gettext_lazy("Worker"),
    "external_cli": gettext_lazy("Command line"),
    # of stages
    "plan": gettext_lazy("Plan"),
    "research": gettext_lazy("Research"),
    "write": gettext_lazy("Write"),
    "verify": gettext_lazy("Verify"),
    "waiting": gettext_lazy("Waiting"),
    "active": gettext_lazy("Under way"),
    "done": gettext_lazy("Done"),
    "cut": gettext_lazy("Not finished"),
    # of tools
    "search": gettext_lazy("Search"),
    "fetch": gettext_lazy("Read"),
    "note": gettext_lazy("Note"),
    "library": gettext_lazy("Library"),
    # of what happened
    "attempt.discarded": gettext_lazy("Started again"),
    "error.shown": gettext_lazy("Problem"),
    "limit.reached": gettext_lazy("Limit reached"),
    "input.received": gettext_lazy("Said"),
    "run.paused": gettext_lazy("Paused"),
    "run.resumed": gettext_lazy("Resumed"),
    "run.finishing": gettext_lazy("Finish asked for"),
    "run.cancelling": gettext_lazy("Cancel asked for"),
    "team.interact_failed": gettext_lazy("Not heard"),
    "status": gettext_lazy("Status"),
    # of tokens
    "valid": gettext_lazy("Valid"),
    "expired": gettext_lazy("Expired"),
    "revoked": gettext_lazy("Revoked"),
    # of verdicts
    "supported": gettext_lazy("Supported by the passage"),
    "partly": gettext_lazy("Partly supported"),
    "not_found": gettext_lazy("Not found in the source"),
}
ICONS = {"search", "fetch", "note", "library"}


@register.filter
def word(name: str) -> str:
    """Return a status, a stage, a tool or a verdict in words."""
    known = WORDS.get(name)
    return str(known) if known else name.replace("_", " ").capitalize()


@register.filter
def icon(tool: str) -> str:
    """Return the class of a tool's icon."""
    return f"icon-{tool}" if tool in ICONS else "icon-tool"


@register.filter
def colour(member: MemberCard | None) -> str:
    """Return the class of a member's colour: by place in the team."""
    return f"who-{member.index % COLOURS}" if member else "who-none"


@register.filter
def called(member: MemberCard | None) -> str:
    """Return how a member is called."""
    return (member.display_name or member.name) if member else _("Team")


@register.filter
def initials(member: MemberCard | None) -> str:
    """Return one or two signs that stand for a member: `R2` for `researcher-2`."""
    name = member.name if member else "·"
    parts = re.findall(r"[^\W_]+", name)[:9] or [name[:1]]
    first: str = parts[0][:1].upper()
    return first + (
        parts[-1][:2] if parts[-1].isdigit() else parts[-1][:1] if len(parts) > 1 else ""
    )


@register.filter
def activity(member: MemberCard) -> str:
    """Return what a member is doing, in words."""
    if member.role == "human_agent":
        return word(member.role)
    doing, detail = member.activity, member.detail
    if member.status in ("stopped", "error", "paused"):
        return word(member.status)
    match doing:
        case "":
            return _("Ready")
        case "asking":
            return _("Asking the model")
        case "thinking":
            return _("Thinking")
        case "writing":
            return _("Writing “%s”") % detail if detail else _("Writing")
        case "search" | "library":
            return _("Searching “%s”") % detail if detail else _("Searching")
        case "fetch":
            return _("Reading %s") % detail if detail else _("Reading")
        case "note":
            return _("Writing down “%s”") % detail if detail else _("Writing down")
    return _("Using %s") % doing


@register.filter
def when(ms: int) -> datetime:
    """Return milliseconds since the epoch as a time."""
    return datetime.fromtimestamp(ms / 1000, UTC)


@register.filter
def duration(ms: int | None) -> str:
    """Return a length of time: `340 ms`, `2.4 s`, `3:05 min`."""
    if ms is None:
        return ""
    if ms < 1000:
        return _("%d ms") % ms
    if ms < 60_000:
        return _("%.1f s") % (ms / 1000)
    return _("%(minutes)d:%(seconds)02d min") % {
        "minutes": ms // 60_000,
        "seconds": ms // 1000 % 60,
    }


@register.simple_tag
def between(start: int, end: int) -> str:
    """Return the time from one moment to another."""
    return duration(max(0, end - start))


@register.filter
def host(url: str) -> str:
    """Return the host of a web address, or nothing: what is no web address becomes no link."""
    return rendering.host_of(url)


@register.filter
def query(args: dict[str, Any]) -> str:
    """Return what a tool was asked, in one line."""
    for key in ("query", "url", "title", "action"):
        if value := args.get(key):
            return str(value)[:300]
    return ""


@register.filter
def tokens(member: MemberCard) -> int:
    """Return how many tokens a member's models have read and written."""
    return member.input_tokens + member.output_tokens


@register.filter
def amount(count: int) -> str:
    """Return a number as people read it: `940`, `12.3k`, `1.2M`."""
    if count < 1000:
        return str(count)
    if count < 999_500:
        return f"{count / 1000:.1f}k" if count < 9950 else f"{round(count / 1000)}k"
    return f"{count / 1_000_000:.1f}M"


@register.simple_tag
def site(card: SourceCard) -> str:
    """Return where a source is from: its host, or who provided it."""
    return rendering.host_of(card.uri) or card.provider


@register.simple_tag
def explain(code: str | None, status: str = "") -> errors.Told | None:
    """Return what an error code means, and what to do; of a status where there is no code."""
    return errors.told(code or status)


@register.filter
def as_json(value: Any) -> str:
    """Return a value as JSON for people, cut where it is very long."""
    return json.dumps(value, indent=2, ensure_ascii=False)[:4000]


@register.filter
def found(count: int) -> str:
    """Return how many sources a call brought."""
    return ngettext("%d source", "%d sources", count) % count


@register.simple_tag
def marked(text: str, base: str, longest: int = 2000) -> SafeString:
    """Return plain text with its markers as links."""
    cut = rendering.shortened(text, longest)
    return rendering.plain(cut, lambda marker: link_to(base, marker))


@register.simple_tag
def prose(text: str, base: str) -> SafeString:
    """Return Markdown with its markers as links."""
    return rendering.markdown(text, link=lambda marker: link_to(base, marker))


@register.filter
def shortened(text: str) -> str:
    """Return the beginning of a note."""
    return rendering.shortened(text, 400)


@register.filter
def as_it_comes(text: str) -> str:
    """Return a text as it is shown while it is written."""
    return rendering.streaming(text)


@register.simple_tag
def whole(card: Any, text: str, run_id: UUID) -> str:
    """Return a card's text, from the log's long texts where the card has only its beginning."""
    if card.blob and (not isinstance(card, MessageCard) or len(text) < card.length):
        return log.blob(run_id, card.blob)
    return text


@register.simple_tag
def section(
    card: SectionCard, run_id: UUID, base: str, checks: dict[int, Any], sources: dict[int, Any]
) -> SafeString:
    """Return a section of the report, its citations as links with a card each."""
    refs = {ref["number"]: ref for ref in card.citations}

    def cite(number: int) -> str:
        if (ref := refs.get(number)) is None:
            return ""
        return superscript(base, ref, sources.get(ref["source_id"]), checks.get(number))

    text = whole(card, card.text, run_id)
    return rendering.markdown(text, cite, lambda marker: link_to(base, marker))


@register.simple_tag
def dot(member: MemberCard | None) -> SafeString:
    """Return a member's sign: a colour, and the initials that tell it without colour."""
    return format_html(
        '<span class="dot {}" title="{}" aria-hidden="true">{}</span>',
        colour(member),
        called(member),
        initials(member),
    )


@register.simple_tag
def passage(base: str, ref: dict[str, Any]) -> str:
    """Return where a citation leads."""
    return address(base, ref["source_id"], ref.get("start"), ref.get("end"))
