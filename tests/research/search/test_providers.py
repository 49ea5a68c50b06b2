"""The providers of the web: what they answer, and what is made of what is no answer."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit
from uuid import uuid4

import pytest

from research.tools.search import asking
from research.tools.search.asking import ask, left_out
from research.tools.search.base import ProviderBusy, SearchScope
from research.tools.search.names import LOCAL
from research.tools.search.pace import Pace
from research.tools.search.snippets import page_key, plain, snippets
from tests.fakes.search import ARXIV, DUCKDUCKGO, WIKIPEDIA, Hit, serve
from tests.fakes.web import FakeWeb, answer, drip

NOBODY = SearchScope(None)
REMOTE = ("duckduckgo", "wikipedia", "arxiv")
PATHS = {"duckduckgo": DUCKDUCKGO, "wikipedia": WIKIPEDIA, "arxiv": ARXIV}
HITS: list[Hit] = [
    ("https://example.org/bees", "How bees dance", "Bees dance to show where flowers are."),
    ("https://example.org/flowers", "Flowers", "Flowers wait for bees & others."),
]


@pytest.mark.parametrize("name", REMOTE)
async def test_a_provider_answers_with_snippets_in_its_own_order(web: FakeWeb, name: str) -> None:
    serve(web, name, HITS)
    (result,) = (await ask([name], "how do bees dance", NOBODY)).results
    assert [(p.uri, p.title, p.text) for p in result.passages] == HITS
    assert {p.kind for p in result.passages} == {"snippet"}
    assert [(p.start, p.end) for p in result.passages] == [(0, len(text)) for *_, text in HITS]


@pytest.mark.parametrize("name", ["duckduckgo", "wikipedia"])
async def test_chinese_is_asked_for_and_comes_back_whole(web: FakeWeb, name: str) -> None:
    hits = [("https://example.org/蜜蜂", "蜜蜂", "蜜蜂用舞蹈告诉同伴花在哪里。")]
    serve(web, name, hits)
    (result,) = (await ask([name], "蜜蜂如何跳舞？", NOBODY)).results
    assert [(p.title, p.text) for p in result.passages] == [hits[0][1:]]
    assert result.passages[0].uri.startswith("https://example.org/%E8%9C%9C")


async def test_wikipedia_is_asked_in_the_language_of_the_question(
    web: FakeWeb, settings: Any
) -> None:
    settings.WIKIPEDIA_URL = web.url("/{language}")
    for language in ("en", "zh"):
        web.page(f"/{language}{WIKIPEDIA}", "{}")
    await ask(["wikipedia"], "bees", NOBODY)
    await ask(["wikipedia"], "蜜蜂", NOBODY)
    assert [path.partition("?")[0] for path in web.paths()] == ["/en/w/api.php", "/zh/w/api.php"]
    assert parse_qs(urlsplit(web.paths()[1]).query)["gsrsearch"] == ["蜜蜂"]


async def test_arxiv_is_asked_for_the_words_that_carry_a_question(web: FakeWeb) -> None:
    serve(web, "arxiv", HITS)
    await ask(["arxiv"], "How do the bees dance?", NOBODY)
    assert parse_qs(urlsplit(web.paths()[0]).query)["search_query"] == ["all:bees AND all:dance"]
    (nothing,) = (await ask(["arxiv"], "蜜蜂", NOBODY)).results
    assert not nothing.passages
    assert len(web.asked) == 1


@pytest.mark.parametrize("name", REMOTE)
async def test_no_results_are_an_answer(web: FakeWeb, name: str) -> None:
    serve(web, name, [])
    asked = await ask([name], "bees", NOBODY)
    assert [len(result.passages) for result in asked.results] == [0]
    assert not asked.down


BROKEN = {
    "an error": [answer(b"no", "500 Internal Server Error")],
    "too many requests": [answer(b"", "429 Too Many Requests")],
    "another format": [answer(b"\xff\xfe\x00", Content_Type="application/octet-stream")],
    "nothing": [b""],
}


@pytest.mark.parametrize(
    ("name", "what"),
    [
        (name, what)
        for name in REMOTE
        for what in BROKEN
        # Any bytes are a page without results to a reader of HTML.
        if (name, what) != ("duckduckgo", "another format")
    ],
)
async def test_a_provider_that_answers_wrongly_is_left_out_for_a_while(
    web: FakeWeb, name: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.raw(PATHS[name], lambda asked: BROKEN[what])
    asked = await ask([name], "bees", NOBODY)
    assert (asked.results, asked.down) == ((), (name,))
    before = len(web.asked)
    assert (await ask([name], "bees", NOBODY)).down == (name,)
    assert len(web.asked) == before, "it is not asked again at once"
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + asking.LEFT_OUT_S + 1)
    assert name not in left_out


async def test_one_that_hangs_costs_the_deadline_once_and_the_others_nothing(
    web: FakeWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "DEADLINE_S", 0.6)
    serve(web, "duckduckgo", HITS)
    web.raw(WIKIPEDIA, lambda asked: drip(b"HTTP/1.1 200 OK\r\n\r\n{", b" "))
    serve(web, "arxiv", HITS)
    began = time.monotonic()
    asked = await ask(REMOTE, "bees dance", NOBODY)
    assert 0.5 < time.monotonic() - began < 1.5
    assert [result.provider for result in asked.results] == ["duckduckgo", "arxiv"]
    assert asked.down == ("wikipedia",)
    began = time.monotonic()
    await ask(REMOTE, "bees dance", NOBODY)
    assert time.monotonic() - began < 0.5


async def test_a_provider_that_cannot_be_reached_is_known_at_once(
    web: FakeWeb, settings: Any
) -> None:
    with FakeWeb() as gone:
        nowhere = gone.url("")
        settings.FETCH_PORTS = [*settings.FETCH_PORTS, gone.port]
    settings.WIKIPEDIA_URL = settings.ARXIV_URL = nowhere
    settings.DUCKDUCKGO_URL = nowhere
    began = time.monotonic()
    asked = await ask(REMOTE, "bees", NOBODY)
    assert time.monotonic() - began < 1.5
    assert asked.down == REMOTE


async def test_many_searches_at_once_do_not_make_a_provider_late(web: FakeWeb) -> None:
    for name in REMOTE:
        serve(web, name, HITS)
    found = await asyncio.gather(*(ask(REMOTE, f"bees {n}", NOBODY) for n in range(12)))
    assert {one.down for one in found} == {()}
    assert web.most_open <= 2 * len(REMOTE) * asking.AT_ONCE


async def test_a_provider_is_asked_at_its_pace_and_gone_on_without_meanwhile(
    web: FakeWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(asking.PACES, "arxiv", Pace(1, apart_s=3.0))
    for name in REMOTE:
        serve(web, name, HITS)
    await ask(REMOTE, "bees", NOBODY)
    began = time.monotonic()
    asked = await ask(REMOTE, "bees dance", NOBODY)
    assert time.monotonic() - began < 1.0
    assert [result.provider for result in asked.results] == ["duckduckgo", "wikipedia"]
    assert asked.down == (), "who is not asked is not down"


async def test_searches_side_by_side_take_turns() -> None:
    pace, times = Pace(2, apart_s=0.05), []

    async def search() -> None:
        async with pace.turn():
            times.append(time.monotonic())
            await asyncio.sleep(0.02)

    began = time.monotonic()
    await asyncio.gather(*(search() for _ in range(5)))
    for turn, at in enumerate(sorted(times)):
        assert at - began >= 0.049 * turn


async def test_nobody_waits_long_for_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("research.tools.search.pace.PATIENCE_S", 0.05)
    pace = Pace(1)
    async with pace.turn():
        with pytest.raises(ProviderBusy):
            async with pace.turn():
                pytest.fail("two at once")
    async with pace.turn():
        pass


async def test_where_duckduckgo_counts_clicks_the_page_itself_is_meant(web: FakeWeb) -> None:
    page = "https://example.org/Bees%3F?a=1%26&b=2"
    counted = f"//duckduckgo.com/l/?uddg={quote(page, safe='')}&rut=0123"
    serve(web, "duckduckgo", [(counted, "Bees", "Bees dance."), (f"{page}3", "More", "x")])
    (result,) = (await ask(["duckduckgo"], "bees", NOBODY)).results
    assert [passage.uri for passage in result.passages] == [page, f"{page}3"]


def test_a_run_is_told_once_of_each_time_that_a_provider_is_down() -> None:
    house = asking.LeftOut()
    one, other = uuid4(), uuid4()
    house.add("arxiv")
    assert house.untold(one, ["arxiv"]) == ["arxiv"]
    assert house.untold(one, ["arxiv"]) == []
    assert house.untold(other, ["arxiv"]) == ["arxiv"]
    house.add("arxiv")
    assert house.untold(one, ["arxiv"]) == ["arxiv"]


HOSTILE: list[Hit] = [
    ("javascript:alert(1)", "Click", "x"),
    ("file:///etc/passwd", "File", "x"),
    ("https://ann:secret@example.org/", "Named", "x"),
    ("https://example.org:22/", "Port", "x"),
    ("//example.org/x", "No scheme", "x"),
    ("", "Nothing", "x"),
    ("https://example.org/a?utm_source=x", "<b>Bold</b> <i>and</i> alert(1)", "a\x00b\ud800c"),
    ("https://www.example.org/a", "The same page", "x"),
    ("https://example.org/long", "T" * 1_000_000, "x" * 5_000_000),
    ("https://example.org/untitled", "", "a < b and c > d"),
]  # fmt: skip


def test_what_is_no_page_is_left_out_and_the_rest_is_plain_and_short() -> None:
    found = list(snippets(HOSTILE, 10))
    assert [p.uri for p in found] == [
        "https://example.org/a?utm_source=x",
        "https://example.org/long",
        "https://example.org/untitled",
    ]
    assert found[0].title == "Bold and alert(1)"
    assert "\x00" not in found[0].text and "\ud800" not in found[0].text
    assert len(found[1].title) == 300 and len(found[1].text) == 1200
    assert found[2].title == "example.org"
    assert found[2].text == "a < b and c > d"


def test_reading_a_hostile_title_takes_no_time() -> None:
    for text in ("<" * 100_000, "<a " * 50_000, "&" * 100_000, "<!--" * 30_000):
        began = time.monotonic()
        plain(text, 1200)
        assert time.monotonic() - began < 0.05


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://Example.org/a/", "http://www.example.org/a"),
        ("https://example.org/a?utm_source=x&b=1", "https://example.org/a?b=1"),
        ("https://example.org/a?b=1&gclid=2", "https://example.org/a?b=1"),
    ],
)
def test_two_addresses_of_one_page_are_one(one: str, other: str) -> None:
    assert page_key(one) == page_key(other)
    assert page_key(one) != page_key("https://example.org/b")


def test_only_the_library_is_near() -> None:
    assert set(asking.PROVIDERS) - LOCAL == set(REMOTE)
