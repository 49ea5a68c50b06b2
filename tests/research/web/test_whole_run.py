"""A whole run on the web: what was fetched is noted, cited, and checked against what was kept."""

from __future__ import annotations

from typing import Any

import pytest

from research.models import Citation, Source, ToolCall
from tests.fakes.web import FakeWeb
from tests.research.conftest import Lab
from tests.research.scripts import Script, rules

from .test_extract import body_of

pytestmark = [pytest.mark.django_db(transaction=True)]

SAID = "灯塔用透镜后面的灯光警告船只，每座灯塔都有自己的节奏。"


def fetching(url: str) -> list[dict[str, Any]]:
    """Return the rules of a run whose researchers fetch one page, having tried another."""
    played = rules(tasks=[{"title": "Lamps", "intent": "Light.", "query": "lamps"}])
    steps = {rule["name"]: rule for rule in played}
    steps["search"]["reply"] = [
        {"tool": "fetch", "args": {"url": "http://127.0.0.1:22/"}},
        {"tool": "fetch", "args": {"url": url}},
    ]
    return played


async def test_a_run_cites_a_page_of_the_web_and_goes_on_without_a_blocked_one(
    lab: Lab, script: Script, web: FakeWeb
) -> None:
    web.redirect("/old", "/lamps")
    web.page("/lamps", body_of(SAID, "gb18030"), "text/html; charset=gb2312")
    script.play(fetching(web.url("/old")))
    run, events = await lab.research()
    assert run.status == "completed"
    calls = await lab.db(lambda: list(ToolCall.objects.filter(tool="fetch")))
    assert sorted(call.status for call in calls) == ["error", "ok"]
    ends = [event.data for event in events if event.type == "tool.finished"]
    assert [end["code"] for end in ends if end["status"] == "error"] == ["blocked_address"]
    source = await lab.db(Source.objects.select_related("archive").get)
    assert (source.uri, source.title) == (web.url("/lamps"), "T")
    cited = await lab.db(lambda: list(Citation.objects.all()))
    assert cited
    for citation in cited:
        assert citation.source_id == source.pk
        assert citation.archive_hash == source.archive_id
        assert citation.verdict == "supported"
        assert source.archive and SAID in source.archive.text
    (section, *_) = [event.data for event in events if event.type == "report.section"]
    assert SAID in section["text"]
