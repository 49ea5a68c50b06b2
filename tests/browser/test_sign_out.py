"""Who signs out in one tab does not go on watching in another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import expect

from tests.research.conftest import TOPIC

from .conftest import Open, Visit

pytestmark = pytest.mark.browser
Visiting = Callable[..., Awaitable[Visit]]


async def test_a_page_that_watches_leads_to_the_sign_in_when_its_session_ends(
    site: Open, visit: Visiting
) -> None:
    ada = await visit(site(delay=0.5))
    await ada.ask(TOPIC)
    await ada.page.wait_for_selector(".pill-live")
    run = ada.page.url
    other = await ada.context.new_page()
    await other.goto(f"{ada.server.url}/settings/")
    await other.click("form[action='/signout/'] button")
    await other.wait_for_url("**/signin/")
    await ada.page.wait_for_url("**/signin/?next=/runs/**", timeout=6_000)
    await expect(ada.page.locator("[data-run]")).to_have_count(0)

    # And back to where one was.
    await ada.page.fill("[name=username]", "ada")
    await ada.page.fill("[name=password]", "a-long-password")
    await ada.page.click("form.card button[type=submit]")
    await ada.page.wait_for_url(run)
    await ada.page.wait_for_selector(".pill-live")


async def test_a_new_password_keeps_this_browser_in_and_its_pages_live(
    site: Open, visit: Visiting
) -> None:
    server = site(delay=0.5)
    ada, elsewhere = await visit(server), await visit(server)
    await ada.ask(TOPIC)
    await ada.page.wait_for_selector(".pill-live")
    await elsewhere.page.goto(ada.page.url)
    await elsewhere.page.wait_for_selector(".pill-live")

    other = await ada.context.new_page()
    await other.goto(f"{server.url}/settings/password/")
    for name, text in (
        ("old_password", "a-long-password"),
        ("new_password1", "another long one"),
        ("new_password2", "another long one"),
    ):
        await other.fill(f"[name={name}]", text)
    await other.click("form.card button[type=submit]")
    await other.wait_for_selector("[role=status]")
    await elsewhere.page.wait_for_url("**/signin/?next=/runs/**", timeout=6_000)
    await ada.page.wait_for_selector(".pill-live")
    assert "/runs/" in ada.page.url
