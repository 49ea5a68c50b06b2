"""The admin in a real browser: readable at a desk, and harmless whatever strangers wrote."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import expect

from tests.rig.server import Server

from .conftest import Open, Visit

pytestmark = pytest.mark.browser
Visiting = Callable[..., Awaitable[Visit]]

PREPARE = """
from django.contrib.auth.models import User
from research.models import Run
from tests.research import hostile, recorded
from tests.research.admin_rows import with_rows
User.objects.filter(username="ada").update(is_staff=True, is_superuser=True)
eve = User.objects.create_user("eve")
User.objects.filter(pk=eve.pk).update(username=hostile.EVIL[:150])
eve.refresh_from_db()
evil = with_rows(recorded.record(eve, hostile.events()), hostile.EVIL[:300])
Run.objects.filter(pk=evil.pk).update(
    topic=hostile.EVIL, error_code=hostile.EVIL[:40], error_message=hostile.EVIL, status="failed"
)
live = recorded.record(eve, recorded.whole()[:40])
print(evil.pk, live.pk)
"""
LISTS = ("run", "work", "task", "member", "toolcall", "note", "source", "citation", "steer",
         "document", "archive", "collection", "apitoken", "command")  # fmt: skip
TOO_WIDE = """() => [document.documentElement, ...document.querySelectorAll('.results, pre')]
  .filter((part) => part.scrollWidth > part.clientWidth + 1)
  .map((part) => part.tagName + ' ' + part.className)"""


async def prepare(server: Server) -> tuple[str, str]:
    """Make ada the keeper of the house, and add a hostile run and one that goes on."""
    code = ("shell", "--no-imports", "-v", "0", "-c", PREPARE)
    told = await asyncio.to_thread(server.manage, *code)
    evil, live = told.split()[-2:]
    return evil, live


async def test_nothing_that_strangers_wrote_acts_in_the_admin_and_all_of_it_can_be_read(
    site: Open, visit: Visiting
) -> None:
    server = site()
    evil, _ = await prepare(server)
    ada = await visit(server)
    paths = [f"research/{name}/" for name in LISTS]
    paths += ["", "streaming/eventrow/", "streaming/stream/", f"research/run/{evil}/change/"]
    paths += [f"streaming/eventrow/?stream__id__exact={evil}", f"streaming/stream/{evil}/change/"]
    paths += [f"research/{name}/1/change/" for name in ("task", "toolcall", "note", "citation")]
    for path in paths:
        response = await ada.page.goto(f"{server.url}/admin/{path}")
        assert response and response.status == 200, path
        assert await ada.page.evaluate(TOO_WIDE) == [], path
    assert ada.trouble == []


async def test_a_run_is_cancelled_from_its_list(site: Open, visit: Visiting) -> None:
    server = site()
    _, live = await prepare(server)
    ada = await visit(server)
    await ada.page.goto(f"{server.url}/admin/")
    await ada.page.click(".glance a:has(.state-running)")
    row = ada.page.locator(f"#result_list tr:has([value='{live}'])")
    await expect(row.locator(".state-running")).to_have_text("Running")
    await row.locator("input[type=checkbox]").check()
    await ada.page.select_option("select[name=action]", "cancel")
    await ada.page.click("button[name=index]")
    await expect(ada.page.locator(".messagelist .success")).to_have_text(
        re.compile("1 run is being cancelled")
    )
    await ada.page.goto(f"{server.url}/admin/research/run/{live}/change/")
    await expect(ada.page.locator(".field-told .state").first).to_have_text(
        re.compile("Cancell(ing|ed)")
    )
    assert ada.trouble == []
