"""The document of a run, as its log has it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User
from django.utils import translation

from research.export.load import document
from research.models import Citation, Run
from research.report.document import Document, is_link, printable
from streaming import vocabulary as v
from streaming.events import Voice
from streaming.models import Blob
from tests.research import recorded
from tests.research.recorded import LEADER, QUOTE, TITLES, TOPIC, WRITER, Said, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def of(user: User, events: Sequence[Said] | None = None) -> Document:
    return document(recorded.record(user, events).pk)


def before_the_end() -> list[Said]:
    return recorded.whole()[:-1]


def test_a_whole_run_is_title_sections_gaps_and_references(ada: User) -> None:
    made = of(ada)
    assert (made.title, made.question, made.language) == (TOPIC, "", "en")
    assert [section.title for section in made.sections] == ["In short", TITLES[0]]
    assert [section.numbers for section in made.sections] == [[1], [2]]
    assert made.sections[1].note == "1 reference led to no stored source and was taken out."
    assert "[2]" in made.sections[1].text
    assert made.facts[1:] == ["Completed", "3 sources", "2 references"]
    (gap,) = made.gaps
    assert (gap.title, gap.message) == (TITLES[2], "Failed: No source says anything about it.")
    assert "gaps" in made.notice


def test_a_reference_says_what_it_is_where_it_is_and_what_was_found_there(ada: User) -> None:
    first, second = of(ada).references
    assert (first.number, first.title) == (1, "Page 1 <script>alert(1)</script>")
    assert first.href == "https://docs.example/1"
    assert first.quote == QUOTE
    assert (first.verdict, first.told) == ("supported", "Supported by the passage")
    assert (second.verdict, second.told) == ("partly", "Partly supported")
    assert first.dates.startswith("Read on ")


def test_a_page_that_was_read_whole_says_when_it_was_published(ada: User) -> None:
    fetched = v.SourceFetched(source_id=1, hash="0" * 64, length=9, published="2024-05-01")
    events = before_the_end()
    made = of(ada, [*events, (LEADER, fetched)])
    assert made.references[0].dates.startswith("Published on 2024-05-01 · Read on ")


def test_what_nobody_has_checked_yet_has_the_passage_that_was_meant(ada: User) -> None:
    events = [item for item in before_the_end() if not isinstance(item[1], v.CitationChecked)]
    run = recorded.record(ada, events)
    Citation.objects.create(
        run=run, number=1, section=1, source=run.sources.get(source_id=1), quote=QUOTE
    )
    first, second = document(run.pk).references
    assert (first.quote, first.verdict, first.told) == (QUOTE, "", "Not checked")
    assert (second.quote, second.told) == ("", "Not checked")


def test_a_running_run_says_so_and_counts_nothing_as_missing_that_may_still_come(
    ada: User,
) -> None:
    events = recorded.whole()[:40]
    made = of(ada, events)
    assert made.notice.startswith("This research has not ended yet")
    assert (made.sections, made.gaps) == ([], [])
    assert made.words.empty == "Nothing has been written yet."
    assert made.facts[1] == "Under way"


def test_a_cancelled_run_keeps_what_was_written_and_what_was_begun(ada: User) -> None:
    begun = [
        (WRITER.within(work="write:3"), data)
        for _, data in said(
            WRITER, "s3", "Half of a third [S1:0-9]", kind="section", section=3, title="Third"
        )
    ]
    made = of(ada, [*before_the_end(), *begun[:-2], (Voice(), v.RunCancelled())])
    assert made.notice.startswith("This research was cancelled.")
    assert [section.finished for section in made.sections] == [True, True, False]
    assert made.sections[2].title == "Third"
    assert made.sections[2].text.startswith("Half of a")


def test_a_cancelled_run_names_the_tasks_that_nobody_ended(ada: User) -> None:
    made = of(ada, [*recorded.opening(), (Voice(), v.RunCancelled())])
    assert [gap.title for gap in made.gaps] == list(TITLES)
    assert {gap.message for gap in made.gaps} == {"Not finished"}
    assert made.words.empty == "No report was written."


def test_a_failed_run_says_why(ada: User) -> None:
    failed = v.RunFailed(code="provider_auth", message="401")
    made = of(ada, [*recorded.opening(), (Voice(), failed)])
    assert made.notice.startswith("This research failed.")
    assert made.notice.endswith("The model's provider refuses the key. (provider_auth)")
    strange = v.RunFailed(code="odd", message="Something odd.")
    made = of(ada, [*recorded.opening(), (Voice(), strange)])
    assert made.notice.endswith("Something odd. (odd)")


def test_a_run_without_a_log_is_a_document_too(ada: User) -> None:
    made = of(ada, [])
    assert (made.sections, made.references, made.gaps) == ([], [], [])
    assert made.title == ""


def test_a_section_too_long_for_its_event_comes_whole(ada: User) -> None:
    text = "A long sentence. " * 6000 + "The very end."
    section = v.ReportSection(section=1, kind="lead", title="In short", text=text)
    made = of(ada, [*recorded.opening(), (WRITER, section)])
    assert Blob.objects.exists()
    assert made.sections[0].text == text


def test_a_report_speaks_the_language_of_its_question(ada: User) -> None:
    started = v.RunStarted(topic="灯塔如何警告船只？", language="zh")
    with translation.override("en"):
        made = of(ada, [(Voice(), started), (Voice(), v.RunCancelled())])
        assert translation.get_language() == "en"
    assert made.language == "zh-Hans"
    assert "年" in made.facts[0]


def test_a_long_question_has_a_short_title_and_stands_below_it(ada: User) -> None:
    topic = "Why?\nBecause " + "it is so " * 50
    made = of(ada, [(Voice(), v.RunStarted(topic=topic))])
    assert made.title.startswith("Why? Because it is so") and made.title.endswith("…")
    assert len(made.title) <= 160
    assert made.question == topic.strip()


def test_a_document_of_the_library_has_no_address_that_others_could_use(ada: User) -> None:
    found = v.SourceFound(source_id=1, title="Lamps", uri="library:7", provider="library")
    events = [
        (voice, found if isinstance(data, v.SourceFound) and data.source_id == 1 else data)
        for voice, data in recorded.whole()
    ]
    assert [reference.uri for reference in of(ada, events).references] == ["", ""]


def test_signs_that_no_format_can_hold_are_left_out(ada: User) -> None:
    assert printable("a\x00b\x0bc\x1bd\ufffe\r\ne\rf\t\n") == "abcd\ne\nf\t\n"


@pytest.mark.parametrize(
    ("url", "leads"),
    [
        ("https://docs.example/a?b=c&d#e", True),
        ("http://docs.example", True),
        ("mailto:a@docs.example", True),
        ("javascript:alert(1)", False),
        ("java\tscript:alert(1)", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("//evil.test/x", False),
        ("/local", False),
        ("https://", False),
        ("http://[::1", False),
        ("https://a.example/ b", False),
        ('https://a.example/"><script>', False),
        ("https://a.example/" + "x" * 3000, False),
        ("", False),
    ],
)
def test_an_address_is_a_link_only_where_it_leads_to_the_web_or_a_mailbox(
    url: str, leads: bool
) -> None:
    assert is_link(url) is leads


def test_a_run_is_read_and_not_changed(ada: User) -> None:
    run = recorded.record(ada)
    document(run.pk)
    after = Run.objects.get(pk=run.pk)
    assert (after.stream.head, after.status) == (run.stream.head, run.status)
