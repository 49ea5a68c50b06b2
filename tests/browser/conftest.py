"""A real server, a real browser, and a person who is signed in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from tests.conftest import Serve
from tests.research.conftest import PAGES
from tests.research.scripts import Script, rules
from tests.rig.server import Server

PASSWORD = "a-long-password"
PREPARE = """
from django.contrib.auth.models import User
from research.library.add import add_path
ada = User.objects.create_user("ada", password={password!r})
add_path({folder!r}, "lighthouses", ada)
"""
AS_IT_STANDS = """() => {
  const page = document.querySelector('[data-run]').cloneNode(true);
  for (const node of page.querySelectorAll('noscript, .to-live')) node.remove();
  for (const node of page.querySelectorAll('[data-since]')) node.textContent = '';
  for (const node of page.querySelectorAll('input')) node.replaceWith();
  for (const node of page.querySelectorAll('[open]')) node.removeAttribute('open');
  page.removeAttribute('data-cursor');
  return page.innerHTML.replace(/\\s+/g, ' ');
}"""
"""The run page without what only time or the reader has changed: clocks, tokens, what is open."""


@dataclass
class Visit:
    """A person's browser, and what went wrong in it."""

    server: Server
    context: BrowserContext
    page: Page
    trouble: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Note down errors, dialogs, and requests to anybody else."""

        def console(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                self.trouble.append(message.text)

        def request(request: Request) -> None:
            if not request.url.startswith((self.server.url, "data:")):
                self.trouble.append(request.url)

        self.page.on("console", console)
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("request", request)

        async def dialog(opened: object) -> None:
            self.trouble.append("a dialog opened")

        self.page.on("dialog", dialog)

    async def sign_in(self) -> None:
        await self.page.goto(f"{self.server.url}/signin/")
        await self.page.fill("[name=username]", "ada")
        await self.page.fill("[name=password]", PASSWORD)
        await self.page.click("button[type=submit]")
        await self.page.wait_for_url(f"{self.server.url}/")

    async def ask(self, topic: str) -> None:
        await self.page.fill("[name=topic]", topic)
        await self.page.click("#composer button[type=submit]")
        await self.page.wait_for_url("**/runs/*/", wait_until="commit")

    async def until(self, status: str, timeout: float = 30_000) -> None:
        """Wait until the page says that the run has this status."""
        await self.page.wait_for_selector(f"#run-head[data-status={status}]", timeout=timeout)

    async def complete(self) -> None:
        """Wait until the page has everything."""
        await self.page.wait_for_selector(".pill-ended", timeout=30_000)

    async def as_it_stands(self) -> str:
        return str(await self.page.evaluate(AS_IT_STANDS))

    async def as_reloaded(self) -> str:
        await self.page.reload()
        await self.complete()
        return await self.as_it_stands()


Open = Callable[..., Server]


@pytest.fixture
def site(serve: Serve, tmp_path: Path, sqlite_template: Path) -> Open:
    """Open a site whose models play a script, with `delay` seconds before each piece."""

    def open_site(delay: float = 0.02) -> Server:
        script = Script(tmp_path / "script")
        script.play(rules(delay))
        server = serve("daphne", start=False, RESEARCH_MODEL=script.model)
        folder = tmp_path / "pages"
        folder.mkdir()
        for name, text in PAGES.items():
            (folder / name).write_text(text)
        code = PREPARE.format(folder=str(folder), password=PASSWORD)
        server.manage("shell", "--no-imports", "-v", "0", "-c", code)
        server.start()
        return server

    return open_site


@pytest.fixture
async def visit(browser: Browser) -> AsyncIterator[Callable[..., object]]:
    """Open a browser at a site, signed in: `await visit(server)`."""
    contexts: list[BrowserContext] = []

    async def open_browser(server: Server, *, width: int = 1440, script: bool = True) -> Visit:
        context = await browser.new_context(
            viewport={"width": width, "height": 900}, java_script_enabled=script
        )
        contexts.append(context)
        context.set_default_timeout(15_000)
        opened = Visit(server, context, await context.new_page())
        opened.watch()
        await opened.sign_in()
        return opened

    yield open_browser
    for context in contexts:
        await context.close()
