"""A run that is watched in 简体中文: what arrives is in the page's language, and fits."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import expect

from tests.research.conftest import TOPIC

from .conftest import Open, Visit

pytestmark = pytest.mark.browser
Visiting = Callable[..., Awaitable[Visit]]
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


async def in_chinese(someone: Visit) -> Visit:
    cookie = {"name": "soundings_language", "value": "zh-hans", "url": someone.server.url}
    await someone.context.add_cookies([cookie])  # type: ignore[list-item]
    await someone.page.goto(someone.server.url)
    return someone


async def test_what_arrives_over_the_socket_is_in_the_language_of_the_page(
    site: Open, visit: Visiting
) -> None:
    server = site(delay=0.3)
    ada, other = await in_chinese(await visit(server)), await visit(server)
    await ada.ask(TOPIC)
    await ada.page.wait_for_selector(".pill-live")
    await other.page.goto(ada.page.url)
    await expect(ada.page.locator("#pill")).to_have_text("实时")
    await expect(ada.page.locator("#control-pause")).to_have_text("暂停")
    await expect(other.page.locator("#control-pause")).to_have_text("Pause")
    await ada.until("completed")
    await expect(ada.page.locator("#run-head .status")).to_contain_text("已完成")
    await expect(other.page.locator("#run-head .status")).to_contain_text("Completed")
    await ada.complete()
    for told in await ada.page.locator(".status, .stage, .now-count, .pill").all_inner_texts():
        assert not re.search(r"[A-Za-z]{3,}", told), told
    assert await ada.as_it_stands() == await ada.as_reloaded()
    assert await ada.page.evaluate("document.documentElement.lang") == "zh-hans"
    assert ada.trouble == []


async def test_pages_in_chinese_fit_and_tell_times_as_chinese_does(
    site: Open, visit: Visiting
) -> None:
    ada = await in_chinese(await visit(site(), width=360))
    await ada.ask(TOPIC)
    await ada.complete()
    run = ada.page.url.removeprefix(ada.server.url)
    for address in ("/", "/notes/", "/library/", "/settings/", run, f"{run}tasks/1/"):
        await ada.page.goto(f"{ada.server.url}{address}")
        assert await ada.page.evaluate(WIDER) <= 0, address
    await ada.page.goto(ada.server.url)
    await expect(ada.page.locator("time[data-time]").first).to_contain_text("年")
    await ada.page.get_by_role("button", name="English").click()
    await expect(ada.page.locator("h1")).to_have_text("What would you like to know?")
