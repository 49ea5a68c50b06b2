"""Everything that a stranger may write, in every place where it may be: a browser does nothing.

Each page is looked at twice: under its policy, of which nothing may even be reported, and without
it, as if the policy were the only wall that stands and had fallen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, Page, Route, expect

from tests.conftest import Serve
from tests.research.hostile import EVIL, PAYLOADS, assert_inert
from tests.research.scripts import Script
from tests.rig.server import Server

pytestmark = pytest.mark.browser
Made = Callable[..., Server]

PASSWORD = "a-long-password"
EVERY = EVIL.replace("alert(1)", "alert(window.__ran=1)")
TITLES = [payload.replace("alert(1)", "alert(window.__ran=1)") for payload in PAYLOADS]
ADDRESSES = [
    "javascript:alert(window.__ran=1)",
    "//evil.test/x",
    "data:text/html,<script>alert(window.__ran=1)</script>",
    "https://evil.test/'\"><img src=x onerror=alert(window.__ran=1)>",
    "https://evil.test\\@good.test/",
    "java\tscript:alert(window.__ran=1)//https://a.test",
]
REPLY = f"{EVERY}\n\n" + "\n\n".join(TITLES) + "\n\n{passage:0}"

PREPARE = """
import json
from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse
from research.library.index import build
from research.library.upload import add_file
from research.models import Collection, Run
from tests.project import belongings
from tests.research import hostile, recorded
from tests.research.admin_rows import with_rows
evil = {evil!r}
ada = User.objects.create_superuser("ada", password={password!r})
mine = Collection.objects.create(name=evil[:80], owner=ada)
for n, name in enumerate({titles!r}):
    text = f"# {{name}}\\n\\nA lighthouse warns ships, number {{n}}. {{name}}\\n\\n{{evil}}\\n"
    add_file(f"{{name}}-{{n}}.md", text.encode(), mine)
    page = f"<title>{{name}}</title><p>A lighthouse {{n}}.</p>{{name}}"
    add_file(f"{{n}}.html", page.encode(), mine)
build(mine)
pages = ["/", "/?q=%3Cscript%3E", "/notes/", "/library/", "/settings/"]
for n in (0, len(evil) // 2):  # a short column has room for a part of them
    some = evil[n:] + evil
    run = with_rows(recorded.record(ada, hostile.events()), some)
    Run.objects.filter(pk=run.pk).update(
        topic=some, error_code=some[:40], error_message=some, status="failed",
        options={{some: some}},
    )
    base = reverse("run", args=[run.pk])
    pages += [base, base + "?group=member", base + "tasks/1/"]
    pages += [reverse("tool", args=[run.pk, hostile.CALL])]
sample = run.sources.get(source_id=2)
for n, uri in enumerate({addresses!r}, 2):
    sample.pk, sample.source_id, sample.uri = sample.pk if n == 2 else None, n, uri
    sample.save()
    pages.append(base + f"sources/{{n}}/?start=0&end=5")
note = run.notes.get()
pages += [base + "delete/"] + [f"/notes/{{note.pk}}/{{at}}" for at in ("", "edit/", "delete/")]
for document in mine.documents.all()[:12]:
    pages.append(reverse("document", args=[mine.pk, document.pk]))
here = reverse("collection", args=[mine.pk])
pages += [here, here + "?q=lighthouse", here + "delete/"]
eve = User.objects.create_user("eve")
User.objects.filter(pk=eve.pk).update(username=evil[:150], first_name=evil[:150], email=evil[:200])
ours = len(pages)
pages.append(reverse("admin:index"))
for model, rows in admin.site._registry.items():
    name = f"admin:{{model._meta.app_label}}_{{model._meta.model_name}}"
    pages.append(reverse(f"{{name}}_changelist"))
    for row in model._default_manager.order_by("-pk")[:1]:
        pages += [reverse(f"{{name}}_{{at}}", args=[row.pk]) for at in ("change", "delete")]
print(json.dumps({{"pages": pages, "ours": ours, "collection": here}}))
"""
LISTEN = """addEventListener('securitypolicyviolation', (event) => {
  if (event.isTrusted) console.error(`violation: ${event.violatedDirective} ${event.blockedURI}`);
});"""
STANDING = """() => {
  for (const node of document.querySelectorAll('details')) node.open = true;
  const odd = [...document.querySelectorAll('base, iframe, object, embed, video, math, mglyph, ' +
    'img[src*="evil"], #csrfmiddlewaretoken, [onerror], [onload], [onmouseover], [srcdoc]')];
  const out = [...document.querySelectorAll('a[href]')].filter((a) => a.origin !== location.origin);
  return {
    ran: window.__ran ?? null,
    odd: odd.map((node) => node.outerHTML.slice(0, 200)),
    shown: document.body.innerText.includes('<script>alert'),
    links: out.map((a) => [a.getAttribute('href'), a.rel, a.host, a.parentElement.textContent]),
  };
}"""


class Watch:
    """A page that is watched: what ran, what was asked of whom, what was reported."""

    def __init__(self, server: Server, page: Page) -> None:
        self.server = server
        self.page = page
        self.trouble: list[str] = []
        self.shown = 0
        page.on("pageerror", lambda error: self.trouble.append(f"{page.url}: {error}"))
        page.on("dialog", self._dialog)
        page.on("console", self._console)

    async def _dialog(self, dialog: Any) -> None:
        self.trouble.append(f"{self.page.url}: a dialog")
        await dialog.dismiss()

    def _console(self, message: Any) -> None:
        if "violation" in message.text or "Content Security" in message.text:
            self.trouble.append(f"{self.page.url}: {message.text}")

    async def route(self, route: Route) -> None:
        """Let nothing out, and note down whatever wanted to go."""
        if route.request.url.startswith((self.server.url, "data:", "file:")):
            await route.continue_()
        else:
            self.trouble.append(f"{self.page.url}: asked for {route.request.url}")
            await route.abort()

    async def look(self) -> None:
        """See that nothing on this page is more than text, and every way out is marked as one."""
        standing = await self.page.evaluate(STANDING)
        assert standing["ran"] is None and standing["odd"] == [], (self.page.url, standing)
        self.shown += standing["shown"]
        for href, rel, host, around in standing["links"]:
            where = (self.page.url, href)
            assert urlsplit(href).scheme in ("http", "https", "mailto"), where
            assert {"noopener", "noreferrer", "nofollow"} <= set(rel.split()), where
            assert host in around or urlsplit(href).scheme == "mailto", (*where, around)


async def watched(browser: Browser, server: Server, *, bypass_csp: bool) -> Watch:
    context: BrowserContext = await browser.new_context(bypass_csp=bypass_csp)
    context.set_default_timeout(20_000)
    await context.add_init_script(LISTEN)
    watch = Watch(server, await context.new_page())
    await context.route("**/*", watch.route)
    return watch


async def sign_in(page: Page, url: str) -> None:
    await page.goto(f"{url}/signin/")
    await page.fill("[name=username]", "ada")
    await page.fill("[name=password]", PASSWORD)
    await page.click("button[type=submit]")
    await page.wait_for_url(f"{url}/")


def hostile_rules(delay: float) -> list[dict[str, Any]]:
    """A whole run, every word of whose models is an attack."""
    tasks = [
        {
            "title": title[:280],
            "intent": EVERY[:900],
            "query": f"lighthouse warns ships {n} {title}",
        }
        for n, title in enumerate(TITLES[:4])
    ]
    note = {"action": "create", "title": EVERY[:200], "content": REPLY, "tags": [EVERY[:60]]}
    return [
        {
            "name": "plan",
            "when": {"output": True},
            "reply": [{"thinking": EVERY, "delay": delay}, {"output": {"tasks": tasks}}],
        },
        {
            "name": "search",
            "when": {"tools": ["search"], "turn": 1},
            "reply": [
                {"text": EVERY, "delay": delay},
                {"tool": "search", "args": {"query": "{tag:query}"}},
            ],
        },
        {
            "name": "wrong",
            "when": {"tools": ["note"], "turn": 2},
            "reply": [
                {"tool": "fetch", "args": {"url": TITLES[1]}},
                {"tool": "note", "args": note},
            ],
        },
        {
            "name": "summary",
            "when": {"tools": ["note"]},
            "reply": [{"text": REPLY, "delay": delay}],
        },
        {"name": "write", "reply": [{"text": f"{{tag:note}}\n\n{REPLY}", "delay": delay}]},
    ]


@pytest.fixture
def hostile_site(serve: Serve, tmp_path: Path) -> tuple[Server, dict[str, Any]]:
    """A site full of what strangers wrote, whose models write nothing else."""
    script = Script(tmp_path / "script")
    script.play(hostile_rules(0.002))
    server = serve("daphne", start=False, RESEARCH_MODEL=script.model)
    code = PREPARE.format(evil=EVERY, titles=TITLES, addresses=ADDRESSES, password=PASSWORD)
    told = server.manage("shell", "--no-imports", "-v", "0", "-c", code)
    server.start()
    return server, json.loads(told.splitlines()[-1])


@pytest.mark.parametrize("bypass_csp", [False, True], ids=["policy", "no-policy"])
async def test_nothing_that_strangers_wrote_acts_on_any_page(
    hostile_site: tuple[Server, dict[str, Any]], browser: Browser, bypass_csp: bool
) -> None:
    server, given = hostile_site
    watch = await watched(browser, server, bypass_csp=bypass_csp)
    page = watch.page
    await sign_in(page, server.url)
    # Under its policy the admin is looked at elsewhere.
    for path in given["pages"] if bypass_csp else given["pages"][: given["ours"]]:
        answer = await page.goto(server.url + path, wait_until="load")
        kept = path.endswith("/delete/")  # some rows nobody may delete by hand
        assert answer and (answer.status == 200 or (kept and answer.status == 403)), path
        await watch.look()
    assert watch.shown > 20, "the attacks are to be read on the pages"
    assert watch.trouble == []

    # What forms and messages give back.
    await page.goto(f"{server.url}/settings/")
    await page.fill("[name=name]", EVERY[:80])
    await page.locator("form[action$='tokens/'] button[type=submit]").click()
    await watch.look()
    await page.goto(f"{server.url}{given['collection']}delete/")
    await page.locator("main form button[type=submit]").click()
    await page.wait_for_url("**/library/")
    assert "<script>" in await page.inner_text(".messages, [role=status]")
    await watch.look()
    assert watch.trouble == []

    # Had anything acted, it would have been seen.
    await page.evaluate(
        """() => { document.body.insertAdjacentHTML('beforeend',
          '<img src="https://evil.test/x" onerror="alert(window.__ran=1)">'); }"""
    )
    await page.wait_for_timeout(300)
    assert watch.trouble != []
    assert (await page.evaluate("window.__ran ?? null")) == (1 if bypass_csp else None)


async def test_nothing_acts_while_a_run_is_watched_nor_in_its_files(
    hostile_site: tuple[Server, dict[str, Any]], browser: Browser, tmp_path: Path
) -> None:
    server, given = hostile_site
    watch = await watched(browser, server, bypass_csp=True)
    page = watch.page
    await sign_in(page, server.url)
    await page.fill("[name=topic]", f"How do lighthouses warn ships? {EVERY}")
    await page.select_option("[name=collection]", given["collection"].split("/")[2])
    await page.click("#composer button[type=submit]")
    await page.wait_for_url("**/runs/*/", wait_until="commit")
    live = page.url
    await page.wait_for_selector("#plan > li")
    await page.fill(".steer [name=text]", EVERY)
    await page.get_by_role("button", name="Send").click()
    while await page.locator(".pill-ended").count() == 0:
        await watch.look()
        await page.wait_for_timeout(150)
    await expect(page.locator("#run-head[data-status=completed]")).to_be_attached()
    for name in ("plan", "timeline", "report", "sources", "notes"):
        await page.evaluate(f"document.getElementById('show-{name}').click()")
        await watch.look()
    cites = page.locator("#report .cite a").first
    await page.evaluate("document.getElementById('show-report').click()")
    await cites.hover()
    assert re.search(r"<script>alert", await page.inner_text("#report"))
    await page.reload()
    await watch.look()
    assert EVERY[:24] in await page.title()
    for at in ("tasks/1/", "tasks/2/", "sources/1/", "?group=member"):
        await page.goto(live + at)
        await watch.look()
    assert watch.trouble == []

    for kind in ("html", "json", "md"):
        answer = await page.context.request.get(f"{live}export/{kind}")
        assert answer.status == 200
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["x-content-type-options"] == "nosniff"
        file = tmp_path / f"report.{kind}"
        file.write_bytes(await answer.body())
    # As a file it has an origin of its own, and the policy that it brings along.
    await page.goto((tmp_path / "report.html").as_uri())
    await watch.look()
    assert watch.trouble == []

    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", server.log())


def test_the_corpus_is_inert_in_the_plain_text_of_a_page_too() -> None:
    with pytest.raises(AssertionError):
        assert_inert(f"<html><body>{PAYLOADS[0]}</body></html>")
