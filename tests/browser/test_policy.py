"""In a real browser no page of ours, nor of the admin, asks for what its policy forbids."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.project.belongings import PASSWORD, addresses
from tests.rig.server import Server

pytestmark = pytest.mark.browser
Serve = Callable[..., Server]

PREPARE = """
import json
from django.contrib import admin
from django.urls import reverse
from tests.project import belongings
ada = belongings.of("ada", is_staff=True, is_superuser=True)
pages = [reverse("admin:index"), reverse("admin:password_change")]
for model, rows in admin.site._registry.items():
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    dates = f"?{rows.date_hierarchy}__year=2026" if rows.date_hierarchy else "?q=a"
    pages.append(reverse(f"{name}_changelist") + dates)
    pages.append(reverse(f"{name}_add"))
    for row in model._default_manager.all()[:1]:
        pages += [reverse(f"{name}_{at}", args=[row.pk]) for at in ("change", "delete", "history")]
pages.append(reverse("admin:auth_user_password_change", args=[ada.user.pk]))
print(json.dumps({"admin": pages, "ids": {name: str(id) for name, id in ada.ids.items()}}))
"""
LISTEN = """addEventListener('securitypolicyviolation', ({violatedDirective, blockedURI}) =>
  console.error(`violation: ${violatedDirective} ${blockedURI}`));"""


async def test_no_page_breaks_its_policy(serve: Serve, browser: Any) -> None:
    server = await asyncio.to_thread(lambda: serve("daphne", start=False))
    shell = ("shell", "--no-imports", "-v", "0", "-c", PREPARE)
    told = await asyncio.to_thread(server.manage, *shell)
    given = json.loads(told.splitlines()[-1])
    await asyncio.to_thread(server.start)
    context = await browser.new_context()
    await context.add_init_script(LISTEN)
    page = await context.new_page()
    trouble: list[str] = []
    where = ""

    def heard(message: Any) -> None:
        if "violat" in message.text or "Content Security Policy" in message.text:
            trouble.append(f"{where}: {message.text}")

    def asked(request: Any) -> None:
        if not request.url.startswith((server.url, "data:")):
            trouble.append(request.url)

    page.on("console", heard)
    page.on("pageerror", lambda error: trouble.append(f"{where}: {error}"))
    page.on("request", asked)
    await page.goto(f"{server.url}/signin/")
    await page.fill("[name=username]", "ada")
    await page.fill("[name=password]", PASSWORD)
    await page.click("button[type=submit]")
    await page.wait_for_url(f"{server.url}/")

    ours = [address.path(given["ids"]) for address in addresses()]
    seen = 0
    for where in [*ours, *given["admin"]]:
        answer = await context.request.get(server.url + where, max_redirects=0)
        if answer.status == 200 and answer.headers["content-type"].startswith("text/html"):
            await page.goto(server.url + where, wait_until="load")
            seen += 1
    assert seen > 50
    assert trouble == []

    # The parts of the admin that scripts make work: menus, dates, filters, choosing what to delete.
    where = "what scripts do"
    await page.goto(f"{server.url}/admin/auth/group/add/")
    await page.wait_for_selector(".selector-available")
    await page.goto(f"{server.url}/admin/auth/user/")
    await page.click("#action-toggle")
    assert await page.locator("tr.selected").count() == 1
    await page.click("button.theme-toggle >> visible=true")
    assert trouble == []

    # Had there been anything, it would have been heard.
    await page.evaluate("document.body.setAttribute('style', 'color: red')")
    await page.wait_for_timeout(100)
    assert trouble != []
    await context.close()
