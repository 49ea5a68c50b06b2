"""The pictures of the README, made from the running product: `python -m bench.picture`."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from tests.research.scripts import Script, rules
from tests.rig.server import ROOT, Server

IMAGES = ROOT / "docs" / "images"
PASSWORD = "a-long-password"
DESKTOP = {"width": 1440, "height": 860}
PHONE = {"width": 390, "height": 780}
TASKS = [
    {"title": "What a cursor is", "intent": "Its parts.", "query": "cursor epoch seq"},
    {"title": "What a reconnect brings", "intent": "Replay.", "query": "reconnect cursor replay"},
    {
        "title": "What a slow reader costs",
        "intent": "Credit.",
        "query": "slow reader credit window",
    },
]


async def ask(browser: Browser, server: Server, question: str, **context: Any) -> Page:
    """Sign in, ask, and return the page of the run."""
    page = await (await browser.new_context(**context)).new_page()
    await page.goto(server.url)
    await page.fill("input[name=username]", "admin")
    await page.fill("input[name=password]", PASSWORD)
    await page.press("input[name=password]", "Enter")
    await page.fill("textarea[name=topic]", question)
    await page.press("textarea[name=topic]", "Control+Enter")
    await page.wait_for_url("**/runs/*/")
    return page


async def finished(browser: Browser, server: Server) -> None:
    """Take the finished run, and the same on a phone, in Chinese and in the dark."""
    question = "How does Soundings make sure that no event is lost?"
    page = await ask(browser, server, question, viewport=DESKTOP)
    await page.locator("#run-head[data-status=completed]").wait_for()
    await page.reload()
    await page.screenshot(path=IMAGES / "run.png")
    dark: dict[str, Any] = {"viewport": PHONE, "locale": "zh-CN", "color_scheme": "dark"}
    page = await ask(browser, server, "Soundings 如何保证事件不丢失？", **dark)
    await page.locator("#run-head[data-status=completed]").wait_for()
    await page.reload()
    await page.screenshot(path=IMAGES / "phone.png")


async def going_on(browser: Browser, server: Server) -> None:
    """Take a run while its members work side by side."""
    question = "What does a client see when its connection is cut?"
    page = await ask(browser, server, question, viewport=DESKTOP)
    await page.locator(".note").nth(1).wait_for(timeout=60_000)
    await page.screenshot(path=IMAGES / "live.png")


async def take(server: Server, picture: Any) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        await picture(browser, server)
        await browser.close()


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    for picture, scripted in ((finished, False), (going_on, True)):
        with TemporaryDirectory(prefix="soundings-picture-") as folder:
            script = Script(Path(folder) / "script")
            script.play(rules(0.7, TASKS))
            model = {"RESEARCH_MODEL": script.model} if scripted else {}
            server = Server("daphne", Path(folder), SOUNDINGS_PASSWORD=PASSWORD, **model)
            server.env["SEARCH_PROVIDERS"] = "library"
            server.manage("first_run")
            server.start()
            try:
                asyncio.run(take(server, picture))
            finally:
                server.close()


if __name__ == "__main__":
    main()
