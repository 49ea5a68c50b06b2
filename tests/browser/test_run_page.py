"""What a person does and sees, from the question to the passage that answers it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Browser, WebSocketRoute, expect

from tests.research import recorded
from tests.research.conftest import TOPIC
from tests.research.hostile import EVIL
from tests.rig.server import Server

from .conftest import Open, Visit

pytestmark = pytest.mark.browser
Visiting = Callable[..., Awaitable[Visit]]

IS_AT_END = """() => {
  const pane = document.getElementById('pane-report');
  return pane.scrollHeight - pane.scrollTop - pane.clientHeight < 2;
}"""
FOCUSED = """() => {
  const node = document.activeElement, style = getComputedStyle(node);
  const near = node.closest('.cite-open, .cite, .tool-line, summary, .switch, .skip');
  const lane = node.matches('.lane > summary') ? 'lane' : '';
  const label = node.labels?.[0] && getComputedStyle(node.labels[0]).outlineStyle !== 'none';
  const what = lane || (node.name === 'pane' ? 'pane' : (near || node).className || node.nodeName);
  return {what: what.split(' ')[0], outlined: style.outlineStyle !== 'none' || Boolean(label)};
}"""
RECORD = """
from django.contrib.auth.models import User
from streaming import log
from research.models import Run
from tests.research import hostile, recorded
events = {events}
run = Run.objects.first() or recorded.record(User.objects.get(username="ada"), [])
log.append(run.pk, recorded.drafts(events[run.stream.head:{upto}]))
print(run.pk)
"""


async def record(server: Server, events: str, upto: int | None = None) -> str:
    """Write some more of a recorded log, in a process beside the server; return the run's page."""
    code = RECORD.format(events=events, upto=upto)
    told = await asyncio.to_thread(server.manage, "shell", "--no-imports", "-v", "0", "-c", code)
    run = told.split()[-1]
    return f"{server.url}/runs/{run}/"


async def test_from_the_question_to_the_passage_that_answers_it(
    site: Open, visit: Visiting
) -> None:
    ada = await visit(site())
    began = time.monotonic()
    await ada.ask(TOPIC)
    await ada.page.wait_for_selector("#members > li")
    assert time.monotonic() - began < 3, "the first events are on the page at once"

    await expect(ada.page.locator("#pill")).to_have_class(re.compile("pill-live"))
    await expect(ada.page.locator("#timeline .lane")).to_have_count(2)
    await ada.page.wait_for_selector(".is-streaming [data-text]")
    await ada.complete()
    await expect(ada.page).to_have_title(re.compile("^✓ "))
    assert await ada.page.locator(".is-streaming").count() == 0
    assert "[S" not in await ada.page.inner_text("#report")

    live = await ada.as_it_stands()
    assert await ada.as_reloaded() == live

    citation = ada.page.locator("#report .cite a").first
    await citation.focus()
    card = ada.page.locator("#report .cite-card").first
    await expect(card).to_be_visible()
    await expect(card).to_contain_text(re.compile("Supported|Partly|Not found"))
    await citation.click()
    quote = ada.page.locator("mark#quote")
    await expect(quote).to_be_in_viewport()
    assert "lighthouse" in await quote.inner_text()
    assert ada.trouble == []


async def test_a_page_whose_socket_is_cut_again_and_again_ends_up_exact(
    site: Open, visit: Visiting
) -> None:
    ada = await visit(site())
    cuts = 0

    def through_a_bad_line(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        frames = 0

        async def pass_on(message: str | bytes) -> None:
            nonlocal frames, cuts
            frames += 1
            if frames > 6 and cuts < 5:
                cuts += 1
                await server.close()
                await socket.close(code=3000)
            else:
                socket.send(message)

        server.on_message(pass_on)

    await ada.page.route_web_socket("**/ws/v1/", through_a_bad_line)
    await ada.ask(TOPIC)
    await ada.complete()
    assert cuts >= 3
    live = await ada.as_it_stands()
    assert await ada.as_reloaded() == live


async def test_cancel_is_shown_when_the_server_has_confirmed_it(
    site: Open, visit: Visiting
) -> None:
    ada = await visit(site(delay=0.3))
    await ada.ask(TOPIC)
    await ada.page.wait_for_selector("#plan > li")
    await ada.page.click("#control-cancel")
    await ada.until("cancelled")
    await expect(ada.page).to_have_title(re.compile("^✕ "))
    await ada.complete()
    assert ada.trouble == []


async def test_what_a_reader_has_opened_stays_open_while_it_changes(
    site: Open, visit: Visiting
) -> None:
    server = site()
    ada = await visit(server)
    page = await record(server, "recorded.whole()", 15)
    await ada.page.goto(page)
    await ada.page.click("#tool-c1-1 summary")
    await expect(ada.page.locator("#tool-c1-1 details")).to_have_attribute("open", "")
    await record(server, "recorded.whole()", 19)
    await expect(ada.page.locator("#tool-c1-1")).to_contain_text("340 ms")
    await expect(ada.page.locator("#tool-c1-1 details")).to_have_attribute("open", "")
    await record(server, "recorded.whole()")
    await ada.complete()
    live = await ada.as_it_stands()
    assert await ada.as_reloaded() == live
    assert ada.trouble == []


async def test_a_timeline_is_grouped_filtered_and_folded_and_stays_so_while_it_goes_on(
    site: Open, visit: Visiting
) -> None:
    server = site()
    ada = await visit(server)
    page = await record(server, "recorded.whole()", 30)
    await ada.page.goto(page)
    await ada.page.click("text=By member")
    await expect(ada.page.locator("#team_lanes > .lane")).to_have_count(5)
    await ada.page.select_option("[aria-label='Show the member']", label="researcher-1")
    await expect(ada.page.locator("#team_lanes > .lane:visible")).to_have_count(1)
    await ada.page.click("text=Fold all")
    await expect(ada.page.locator("#tool-c1-1")).to_be_hidden()
    await record(server, "recorded.whole()")
    await ada.complete()
    await expect(ada.page.locator("#team_lanes > .lane")).to_have_count(6)
    assert await ada.page.locator("#team_lanes > .lane[open]").count() == 0
    shown = ada.page.locator("#team_lanes > .lane:visible")
    await expect(shown).to_have_count(1)
    await expect(shown).to_contain_text("4 calls · 1 note · 1 error")
    live = await ada.as_it_stands()
    assert await ada.as_reloaded() == live
    await expect(ada.page.locator("#team_lanes > .lane:visible")).to_have_count(1)
    await ada.page.click("text=Unfold all")
    await ada.page.click("text=By task")
    await expect(ada.page.locator("#timeline > .lane")).to_have_count(3)
    await expect(ada.page.locator("#tool-c1-1")).to_be_visible()
    await expect(ada.page.locator("#tool-c2-2")).to_be_hidden()
    await ada.page.select_option("[aria-label='Show the member']", "")
    await ada.page.select_option("[aria-label='Show the task']", label=recorded.TITLES[1])
    await expect(ada.page.locator("#timeline > .lane:visible")).to_have_count(1)
    await expect(ada.page.locator("#tool-c2-2")).to_be_visible()
    assert ada.trouble == []


async def test_sources_are_found_by_use_task_site_and_words(site: Open, visit: Visiting) -> None:
    server = site()
    ada = await visit(server)
    await ada.page.goto(f"{await record(server, 'recorded.whole()')}?pane=sources")
    sources = ada.page.locator("#sources > li:visible")
    await expect(sources).to_have_count(3)
    await ada.page.select_option("[aria-label='Show sources by use']", label="Cited")
    await expect(sources).to_have_count(1)
    await expect(ada.page.locator("#found-sources")).to_have_text("1 of 3")
    await ada.page.select_option("[aria-label='Show sources by use']", label="All")
    await ada.page.select_option("[aria-label='Show sources of the site']", "pages.example")
    await expect(sources).to_have_text(re.compile("Savepoints"))
    await ada.page.select_option("[aria-label='Show sources of the site']", "")
    await ada.page.fill("#find-source", "SAVEPOINTS")
    await expect(sources).to_have_count(1)
    await ada.page.fill("#find-source", "")
    await ada.page.select_option("[aria-label='Show sources of the task']", "2")
    await expect(sources).to_have_text(re.compile("Page 2"))
    assert ada.trouble == []


@pytest.mark.parametrize("width", [360, 1440])
async def test_the_card_of_a_citation_is_whole_and_escape_puts_it_away(
    site: Open, visit: Visiting, width: int
) -> None:
    server = site()
    ada = await visit(server, width=width)
    await ada.page.goto(f"{await record(server, 'recorded.whole()')}?pane=report")
    await ada.complete()
    link, card = (
        ada.page.locator(f"#section-2 .cite {what}").first for what in ("a", ".cite-card")
    )
    await link.scroll_into_view_if_needed()
    await ada.page.locator("#section-2 h2").click()
    await link.hover()
    await expect(card).to_be_visible()
    await card.hover()  # the way to the card does not put it away
    await ada.page.wait_for_timeout(400)
    await expect(card).to_contain_text(re.compile(r"docs\.example.*Partly.*researcher-1", re.S))
    box = await card.bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= width
    assert box["y"] >= 0 and box["y"] + box["height"] <= 900
    await ada.page.keyboard.press("Escape")
    await expect(card).to_be_hidden()
    await link.focus()
    await expect(card).to_be_visible()
    await ada.page.keyboard.press("Tab")
    await expect(card.locator("a")).to_be_focused()
    await ada.page.keyboard.press("Enter")
    await expect(ada.page.locator("mark#quote")).to_be_in_viewport()
    assert ada.trouble == []


async def test_a_finger_sees_the_card_first_and_goes_to_the_passage_from_there(
    site: Open, browser: Browser, visit: Visiting
) -> None:
    server = site()
    ada = await visit(server)
    page = await record(server, "recorded.whole()")
    state: Any = await ada.context.storage_state()
    context = await browser.new_context(
        viewport={"width": 360, "height": 780}, has_touch=True, storage_state=state
    )
    phone = await context.new_page()
    await phone.goto(f"{page}?pane=report")
    await phone.locator("#section-1 .cite a").first.tap()
    card = phone.locator("#section-1 .cite-card").first
    await expect(card).to_be_visible()
    assert phone.url.startswith(page)
    await card.locator("a").tap()
    await expect(phone.locator("mark#quote")).to_be_in_viewport()
    await context.close()


async def test_a_reader_who_scrolls_up_stays_there_until_they_jump_to_live(
    site: Open, visit: Visiting
) -> None:
    server = site()
    ada = await visit(server)
    much = (
        "[*recorded.opening(), *recorded.said(recorded.WRITER, 's1', 'word ' * 6000, 400, "
        "kind='section', section=1, title='In short')]"
    )
    page = await record(server, much, 50)
    await ada.page.goto(page)
    await expect(ada.page.locator("#pill")).to_have_class(re.compile("pill-live"))
    pane = ada.page.locator("#pane-report")
    await pane.evaluate("pane => { pane.scrollTop = pane.scrollHeight; }")
    await record(server, much, 60)
    await ada.page.wait_for_function(IS_AT_END)
    await pane.hover()
    await ada.page.mouse.wheel(0, -2000)
    await expect(ada.page.locator("#to-live")).to_be_visible()
    before = await pane.evaluate("pane => pane.scrollTop")
    height = await pane.evaluate("pane => pane.scrollHeight")
    await record(server, much, 75)
    await ada.page.wait_for_function(
        f"document.getElementById('pane-report').scrollHeight > {height}"
    )
    assert await pane.evaluate("pane => pane.scrollTop") == before
    await ada.page.click("#to-live")
    await ada.page.wait_for_function(IS_AT_END)
    await expect(ada.page.locator("#to-live")).to_be_hidden()
    assert ada.trouble == []


async def test_a_run_that_is_deleted_says_so_where_it_is_open(site: Open, visit: Visiting) -> None:
    server = site(delay=0.3)
    ada = await visit(server)
    page = await record(server, "recorded.whole()", 60)
    await ada.page.goto(page)
    await expect(ada.page.locator("#pill")).to_have_class(re.compile("pill-live"))
    code = "from streaming.models import Stream; Stream.objects.all().delete()"
    await asyncio.to_thread(server.manage, "shell", "--no-imports", "-v", "0", "-c", code)
    await expect(ada.page.locator("#pill")).to_have_class(re.compile("pill-gone"), timeout=15_000)
    await expect(ada.page.locator(".why-gone")).to_be_visible()
    await expect(ada.page.locator(".why-gone a")).to_have_attribute("href", "/")
    assert ada.trouble == []


async def test_home_shows_how_a_run_comes_on_without_a_reload(site: Open, visit: Visiting) -> None:
    server = site()
    ada = await visit(server)
    other = await ada.context.new_page()
    await ada.ask(TOPIC)
    await other.goto(server.url)
    await expect(other.locator(".run-list .status")).to_have_text("Running")
    await ada.complete()
    await expect(other.locator(".run-list .status")).to_have_text("Completed", timeout=10_000)
    await expect(other.locator(".run-list .run-meta")).to_contain_text("source")


async def test_everything_is_reached_with_the_keyboard_alone(site: Open, visit: Visiting) -> None:
    server = site()
    ada = await visit(server)
    keyboard = ada.page.keyboard
    await ada.page.goto(server.url)
    await ada.page.focus("[name=topic]")
    await keyboard.type(TOPIC)
    await keyboard.press("Control+Enter")
    await ada.page.wait_for_url("**/runs/*/", wait_until="commit")
    await ada.complete()
    await ada.page.goto(ada.page.url)
    seen: list[str] = []
    for _ in range(120):
        await keyboard.press("Tab")
        at: Any = await ada.page.evaluate(FOCUSED)
        assert at["outlined"], at
        seen.append(at["what"])
        if at["what"] == "cite-open":
            break
    assert seen[0] == "skip"
    for what in ("switch", "lane", "tool-line", "pane", "cite", "cite-open"):
        assert what in seen, (what, seen)


async def test_a_page_that_is_far_behind_is_fetched_anew_and_goes_on(
    site: Open, visit: Visiting
) -> None:
    server = site()
    ada = await visit(server)
    is_down = False

    def line(socket: WebSocketRoute) -> None:
        upstream = socket.connect_to_server()

        async def pass_on(message: str | bytes) -> None:
            await socket.close(code=3000) if is_down else socket.send(message)

        upstream.on_message(pass_on)

    await ada.page.route_web_socket("**/ws/v1/", line)
    fetched: list[str] = []
    ada.page.on(
        "request", lambda it: fetched.append(it.url) if it.resource_type == "fetch" else None
    )
    much = "[*recorded.opening(), *recorded.said(recorded.researcher(1), 'm', 'word ' * 900, 5)]"
    page = await record(server, much, 20)
    await ada.page.goto(page)
    await expect(ada.page.locator("#pill")).to_have_class(re.compile("pill-live"))
    is_down = True
    await record(server, much, 800)
    await expect(ada.page.locator("#pill")).to_have_class(re.compile("pill-reconnecting"))
    is_down = False
    await expect(ada.page.locator("#msg-m")).to_contain_text("word " * 700, timeout=20_000)
    assert fetched == [page]
    await expect(ada.page.locator("#pill")).to_have_class(re.compile("pill-live"))
    await record(server, much)
    await expect(ada.page.locator("#msg-m .prose")).to_be_visible()
    assert fetched == [page]


async def test_nothing_that_a_stranger_wrote_runs_or_calls_home(
    site: Open, visit: Visiting
) -> None:
    server = site()
    ada = await visit(server)
    page = await record(server, "hostile.events()", 6)
    await ada.page.goto(page)
    await record(server, "hostile.events()")
    await ada.complete()
    assert EVIL[:24] in await ada.page.inner_text("#head")
    for name in ("sources", "notes", "timeline"):
        await ada.page.evaluate(f"document.getElementById('show-{name}').click()")
    await ada.as_reloaded()
    await ada.page.goto(f"{page}tasks/1/")
    await ada.complete()
    assert ada.trouble == []


async def test_without_a_script_a_person_asks_reads_and_cancels(
    site: Open, visit: Visiting
) -> None:
    ada = await visit(site(delay=0.3), script=False)
    await ada.ask(TOPIC)
    await ada.page.wait_for_selector("#members > li")
    await ada.page.click("#control-cancel")
    for _ in range(40):
        status = await ada.page.get_attribute("#run-head", "data-status")
        if status == "cancelled":
            break
        assert status == "cancelling"
        await ada.page.wait_for_timeout(100)
        await ada.page.reload()
    assert status == "cancelled"
    await ada.page.click("label[for=show-sources]")
    await expect(ada.page.locator(".pane-sources")).to_be_visible()
    assert ada.trouble == []


@pytest.mark.parametrize("width", [360, 768, 1024, 1600])
async def test_no_page_is_wider_than_its_window(site: Open, visit: Visiting, width: int) -> None:
    server = site()
    ada = await visit(server, width=width)
    page = await record(server, "recorded.whole()")
    for address in (server.url, page, f"{page}tasks/1/", f"{page}sources/1/", f"{page}tools/c1-1/"):
        await ada.page.goto(address)
        wide: Any = await ada.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, address


async def test_a_socket_that_is_closed_with_its_session_leads_to_the_sign_in_once(
    site: Open, visit: Visiting
) -> None:
    server = site()
    ada = await visit(server)
    sockets: list[WebSocketRoute] = []

    def ended(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        asyncio.get_running_loop().create_task(socket.close(code=4419))

    page = await record(server, "recorded.whole()", 30)
    await ada.page.route_web_socket("**/ws/v1/", ended)
    await ada.page.goto(page)
    await ada.page.wait_for_timeout(2500)
    assert len(sockets) == 2, "it loads the page once more, and does not spin"
    await expect(ada.page.locator("#pill")).to_have_class(re.compile("pill-offline"))
    await ada.context.clear_cookies()
    await ada.page.evaluate("sessionStorage.clear()")
    await ada.page.reload()
    await ada.page.wait_for_url(re.compile(r"/signin/\?next=/runs/"))
