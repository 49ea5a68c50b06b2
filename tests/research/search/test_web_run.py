"""Whole keyless runs on the web: search, read the pages, cite what they say."""

from __future__ import annotations

from typing import Any

import pytest

from research.models import Citation, Collection, Run, Source
from streaming.events import Event
from tests.fakes.search import article, encyclopedia, serve
from tests.fakes.web import FakeWeb, answer
from tests.research.conftest import Lab

QUESTION = "How do honey bees tell each other where flowers are?"
DANCE = (
    "Honey bees tell each other where flowers are by the waggle dance. "
    "The angle of the waggle dance to the vertical tells the direction of the flowers to the sun. "
    "Honey bees run longer in the dance where the flowers are farther away."
)
SCENT = (
    "Honey bees also tell each other by scent which flowers are meant. "
    "A bee that comes home carries the scent of the flowers on its body."
)

pytestmark = pytest.mark.usefixtures("data_dir")


def _serve_bees(web: FakeWeb) -> tuple[str, str]:
    dance = article(web, "The waggle dance", DANCE, SCENT)
    gone = web.url("/gone")
    web.raw("/gone", lambda asked: [answer(b"", "404 Not Found")])
    serve(
        web,
        "duckduckgo",
        [
            (gone, "Bees and flowers", "How honey bees tell each other where flowers are …"),
            (dance, "The waggle dance", "Honey bees tell each other where flowers are by …"),
        ],
    )
    serve(web, "wikipedia", [])
    serve(web, "arxiv", [])
    return dance, gone


async def test_a_run_without_documents_reads_the_web_and_cites_what_it_read(
    web: FakeWeb, lab: Lab
) -> None:
    dance, _ = _serve_bees(web)
    run, events = await lab.research(QUESTION)
    assert run.status == "completed", events[-1]
    assert {"/The-waggle-dance", "/gone"} <= set(web.paths())
    cited = await lab.db(_citations, run)
    assert cited
    for citation in cited:
        assert citation.source.uri == dance
        assert citation.source.fetched_at is not None
        assert citation.source.archive is not None
        text = citation.source.archive.text
        assert citation.quote and text[citation.start : citation.end] == citation.quote
        assert citation.verdict == "supported"
    failed = [e for e in events if e.type == "tool.finished" and e.data["status"] == "error"]
    assert [event.data["code"] for event in failed] == ["bad_status"]
    assert "waggle dance" in _report(events)


async def test_where_the_library_answers_no_page_is_fetched(
    web: FakeWeb, lab: Lab, collection: Collection
) -> None:
    for name in ("duckduckgo", "wikipedia", "arxiv"):
        serve(web, name, [(web.url("/x"), "Lighthouses", "How lighthouses warn ships: a page.")])
    run, events = await lab.research("How does a lighthouse warn ships in fog?")
    assert run.status == "completed"
    assert "/x" not in web.paths()
    (used,) = {event.data["backend"] for event in events if event.data.get("tool") == "search"
               and event.type == "tool.finished"}  # fmt: skip
    assert used == "library, duckduckgo, wikipedia, arxiv"
    assert {row.source.provider for row in await lab.db(_citations, run)} == {"library"}


async def test_an_article_that_the_search_itself_brought_is_cited_where_it_is_kept(
    web: FakeWeb, lab: Lab
) -> None:
    url = web.url("/wiki/Waggle_dance")  # the page itself cannot be had
    encyclopedia(
        web,
        [(url, "Waggle dance", "Honey bees dance.")],
        {"Waggle dance": f"Honey bees dance.\n\n== Meaning ==\n{DANCE}\n"},
    )
    run, _ = await lab.research(QUESTION, sources=["wikipedia"])
    cited = await lab.db(_citations, run)
    assert {(row.source.provider, row.source.uri) for row in cited} == {("wikipedia", url)}
    for citation in cited:
        text = citation.source.archive.text if citation.source.archive else ""
        assert citation.quote and text[citation.start : citation.end] == citation.quote
        assert citation.quote in DANCE and citation.verdict == "supported"


async def test_documents_that_only_share_words_with_the_question_do_not_answer_it(
    web: FakeWeb, lab: Lab, collection: Collection
) -> None:
    dance, _ = _serve_bees(web)  # a ship, too, can "tell" a lighthouse by its light
    run, _ = await lab.research(QUESTION)
    assert run.status == "completed"
    assert {row.source.uri for row in await lab.db(_citations, run)} == {dance}


async def test_with_no_web_and_no_documents_the_report_says_so(
    web: FakeWeb, lab: Lab, settings: Any
) -> None:
    run, events = await lab.research(QUESTION)  # the fake web answers each search with 404
    assert run.status == "completed"
    (notice,) = [event.data for event in events if event.type == "status"]
    assert notice == {
        "message": "DuckDuckGo, Wikipedia, arXiv did not answer; "
        "the search goes on with the others.",
        "code": "no_answer",
        "about": ["duckduckgo", "wikipedia", "arxiv"],
    }
    assert not await lab.db(_citations, run)
    assert (
        "No source was found that answers this question. "
        "These did not answer when they were asked: DuckDuckGo, Wikipedia, arXiv."
    ) in _report(events)


async def test_that_nothing_was_found_is_said_in_the_language_of_the_question(
    web: FakeWeb, lab: Lab
) -> None:
    _, events = await lab.research("蜜蜂如何告诉同伴花在哪里？", sources=["wikipedia"])
    said = "没有找到能够回答这个问题的来源。以下来源在询问时没有回应：Wikipedia。"
    assert said in _report(events)


async def test_a_run_may_ask_some_providers_only(web: FakeWeb, lab: Lab) -> None:
    _serve_bees(web)
    run, events = await lab.research(QUESTION, sources=["wikipedia"])
    assert {path.partition("?")[0] for path in web.paths()} == {"/w/api.php"}
    assert run.options["sources"] == ["wikipedia"]
    assert events[0].data["options"]["sources"] == ["wikipedia"]


async def test_what_a_search_shows_stays_where_notes_point_after_the_page_is_read(
    web: FakeWeb, lab: Lab
) -> None:
    dance, _ = _serve_bees(web)
    run, _ = await lab.research(QUESTION)
    source = await lab.db(lambda: Source.objects.select_related("archive").get(run=run, uri=dance))
    shown = "Honey bees tell each other where flowers are by …"
    assert source.archive is not None
    assert source.archive.text.startswith(shown + "\n\n")
    assert DANCE.split(". ")[1] in source.archive.text


def _citations(run: Run) -> list[Citation]:
    return list(Citation.objects.filter(run=run).select_related("source__archive"))


def _report(events: list[Event]) -> str:
    (done,) = [event.data["text"] for event in events if event.type == "report.completed"]
    return str(done)
