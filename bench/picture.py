"""The picture of the README, made from the running product: `python -m bench.picture`."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import async_playwright

from tests.rig.server import ROOT, Server

QUESTION = "How does Soundings make sure that no event is lost?"
PASSWORD = "a-long-password"


async def take(server: Server, path: Path) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = await browser.new_page(viewport={"width": 1440, "height": 860})
        await page.goto(server.url)
        await page.fill("input[name=username]", "admin")
        await page.fill("input[name=password]", PASSWORD)
        await page.click("button[type=submit]")
        await page.fill("textarea[name=topic]", QUESTION)
        await page.press("textarea[name=topic]", "Control+Enter")
        await page.wait_for_url("**/runs/*/")
        await page.get_by_text("Completed").first.wait_for()
        await page.reload()
        await page.screenshot(path=path)
        await browser.close()


def main() -> None:
    path = ROOT / "docs" / "images" / "run.png"
    path.parent.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="soundings-picture-") as folder:
        server = Server("daphne", Path(folder), SOUNDINGS_PASSWORD=PASSWORD)
        server.manage("first_run")
        server.start()
        try:
            asyncio.run(take(server, path))
        finally:
            server.close()


if __name__ == "__main__":
    main()
