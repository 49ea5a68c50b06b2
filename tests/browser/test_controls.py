"""What a person does with a run while it goes on, in a real browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from playwright.async_api import expect

from tests.research.conftest import TOPIC

from .conftest import Open, Visit

Visiting = Callable[..., Awaitable[Visit]]


async def test_a_person_steers_pauses_resumes_and_finishes_with_the_keyboard(
    site: Open, visit: Visiting
) -> None:
    ada = await visit(site(delay=0.3))
    page = ada.page
    await ada.ask(TOPIC)
    await expect(page.locator("#timeline .lane")).to_have_count(2)
    toggle = page.locator("#control-pause")
    await toggle.focus()
    await page.keyboard.press("Enter")
    await expect(toggle).to_have_text("Resume")
    await expect(toggle).to_be_focused()
    await ada.until("paused")
    await page.locator("#steer_to").select_option("researcher-1")
    box = page.get_by_label("Steer the team")
    await box.fill("Look at <b>horns</b> 🔔")
    await box.press("Control+Enter")
    said = page.locator(".moment-inputreceived")
    await expect(said).to_contain_text("ada to researcher-1")
    await expect(said).to_contain_text("Look at <b>horns</b> 🔔")
    await expect(said).to_contain_text("Waits for the next step.")
    await expect(box).to_have_value("")
    await expect(page.locator("#control-said")).to_contain_text("Written down")
    await page.reload()
    await toggle.focus()
    await page.keyboard.press("Space")
    await expect(toggle).to_have_text("Pause")
    await expect(said).to_contain_text("Heard by researcher-1")
    await ada.complete()
    await expect(page.get_by_role("button", name="Run again")).to_be_visible()
    await expect(page.get_by_label("Steer the team")).to_be_hidden()
    await _follow_up_and_finish(ada)
    assert ada.trouble == []


async def _follow_up_and_finish(ada: Visit) -> None:
    page, before = ada.page, ada.page.url
    asks = page.get_by_label("Ask a follow-up")
    await asks.fill("And in fog?")
    await asks.press("Control+Enter")
    await page.wait_for_url(lambda url: url != before)
    await expect(page.locator(".relatives")).to_contain_text(f"Follows {TOPIC}")
    await expect(page.locator("#timeline .lane")).to_have_count(2)
    await page.locator("#control-pause").click()
    await ada.until("paused")
    await page.locator("#control-finish").click()
    await ada.until("completed")
    await expect(page.locator(".run-head")).to_contain_text("with gaps")


async def test_without_a_script_the_controls_are_forms(site: Open, visit: Visiting) -> None:
    ada = await visit(site(delay=0.3), script=False)
    page = ada.page
    await ada.ask(TOPIC)
    address = page.url
    await page.get_by_role("button", name="Pause").click()
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()
    await page.get_by_label("Steer the team").fill("Look at horns.")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator("#control-said")).to_contain_text("heard at the next step")
    await expect(page.locator("#items_lead")).to_contain_text("Look at horns.")
    await page.get_by_role("button", name="Cancel").click()
    await page.goto(address)
    await expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    assert ada.trouble == []
