"""What models and pages wrote becomes HTML that can do nothing: Markdown, markers, plain text.

Raw HTML is escaped, images are not shown, links lead to http, https or mail and say where to. What
comes out of Markdown passes an allow-list of its own all the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import mistune
import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from mistune.core import BlockState, InlineState
from mistune.inline_parser import InlineParser
from mistune.renderers.html import HTMLRenderer

from .text import markers

LONGEST = 60_000  # characters of Markdown; the rest is shown as plain text
TAGS = {
    *("p", "br", "hr", "strong", "em", "del", "code", "pre", "blockquote", "a", "span"),
    *("ul", "ol", "li", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {
    "a": {"href"},
    "span": {"data-cite", "data-marker"},
    "ol": {"start"},
}
REFERENCE = r"\[(?P<cite_number>\d{1,4})\](?!\(|:|\[(?!\d{1,4}\]))"
MARKER = r"\[S(?P<marker_source>[0-9]{1,9})(?::(?P<marker_span>[0-9]{1,10}-[0-9]{1,10}))?\]"
_PLACE = re.compile(r' ?<span data-(cite|marker)="([0-9:-]{1,32})"></span>')

Cite = Callable[[int], str]
Link = Callable[[markers.Marker], str]


class _Renderer(HTMLRenderer):
    """HTML below a page's own headings, with links that show where they lead."""

    def __init__(self) -> None:
        super().__init__(escape=True)

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        level = min(level + 2, 6)
        return f"<h{level}>{text}</h{level}>\n"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return escape(text)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        if not (host := host_of(url)) and not url.lower().startswith("mailto:"):
            return text
        said = f' <span class="host">({escape(host)})</span>' if not is_told(host, text) else ""
        return f'<a href="{escape(url)}">{text}</a>{said}'

    def cite(self, number: str) -> str:
        return f'<span data-cite="{number}"></span>'

    def marker(self, place: str) -> str:
        return f'<span data-marker="{place}"></span>'


def _parse_cite(inline: InlineParser, match: re.Match[str], state: InlineState) -> int:
    if state.in_link:  # a link in a link is none
        inline.process_text(match[0], state)
        return match.end()
    state.append_token({"type": "cite", "raw": str(int(match["cite_number"]))})
    return match.end()


def _parse_marker(inline: InlineParser, match: re.Match[str], state: InlineState) -> int:
    if state.in_link:
        return match.end()
    span = match["marker_span"]
    raw = match["marker_source"] + (f":{span}" if span else "")
    state.append_token({"type": "marker", "raw": raw})
    return match.end()


def places(md: mistune.Markdown) -> None:
    """Teach a parser what `[3]` and `[S12:0-9]` are: tokens `cite` and `marker`."""
    md.inline.register("cite", REFERENCE, _parse_cite, before="link")
    md.inline.register("marker", MARKER, _parse_marker, before="link")


@cache
def _markdown() -> mistune.Markdown:
    plugins: list[Any] = ["table", "strikethrough", "url", places]
    return mistune.create_markdown(renderer=_Renderer(), plugins=plugins)


def markdown(text: str, cite: Cite | None = None, link: Link | None = None) -> SafeString:
    """Return Markdown as HTML; `cite` makes what stands for `[3]`, `link` for `[S12]`.

    A number for which `cite` returns nothing cites nothing, and stays as it is.
    """
    head, rest = text[:LONGEST], text[LONGEST:]
    try:
        html = str(_markdown().parse(head, BlockState())[0])
    except RecursionError:
        return mark_safe(f'<p class="plain">{escape(text)}</p>')
    html = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        allowed_classes={"span": {"host"}},
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )

    def place(match: re.Match[str]) -> str:
        space = " " if match[0][0] == " " else ""  # a raised number stands close to its word
        if match[1] == "cite":
            cited = cite(int(match[2])) if cite else ""
            return cited or f"{space}[{match[2]}]"
        marker = _marker(match[2])
        return space + (link(marker) if link else escape(str(marker)))

    html = _PLACE.sub(place, html)
    if rest:
        html += f'<p class="plain">{escape(rest)}</p>'
    return mark_safe(html)


def _marker(place: str) -> markers.Marker:
    return next(markers.find_markers(f"[S{place}]")).marker


def plain(text: str, link: Link) -> SafeString:
    """Return plain text as HTML, its markers as links."""
    parts, at = [], 0
    for found in markers.find_markers(text):
        parts += [escape(text[at : found.at]), link(found.marker)]
        at = found.to
    return mark_safe("".join([*parts, escape(text[at:])]))


# --- while it is written --------------------------------------------------------------------------
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_BEGUN = re.compile(r"\[(?:S(?:\d{1,9}(?::(?:\d{1,10}(?:-\d{0,10})?)?)?)?)?\Z", re.ASCII)


def shortened(text: str, longest: int) -> str:
    """Return the beginning of a text, cut beside its markers and not in one."""
    if len(text) <= longest:
        return text
    cut = text[:longest]
    if begun := _BEGUN.search(cut, max(0, len(cut) - 40)):
        cut = cut[: begun.start()]
    return cut.rstrip() + " …"


def streaming(text: str) -> str:
    """Return a text as it is shown while it comes: markers small, one that has only begun not yet.

    What this returns for a longer text begins with what it returns for a shorter one.
    """
    if begun := _BEGUN.search(text, max(0, len(text) - 40)):
        text = text[: begun.start()]
    return markers.PATTERN.sub(lambda found: "ˢ" + found[1].translate(_RAISED), text)


# --- addresses ------------------------------------------------------------------------------------
def host_of(url: str) -> str:
    """Return the host of a web address, or nothing where it is no web address.

    Of what a browser would read in another way, as with a `\\` before an `@`, it returns nothing.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https"):
        return ""
    return "" if any(sign == "\\" or _is_unseen(sign) for sign in parts.netloc) else host


def is_told(host: str, text: str) -> bool:
    """Tell whether the text of a link says itself where it leads: it is the host, or an address."""
    return not host or text == host or (host_of(text) == host and "@" not in text)


def _is_unseen(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "CZ"
