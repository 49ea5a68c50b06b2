"""What the keyless team finds and writes."""

import re
from collections.abc import Callable
from itertools import combinations

import pytest

from research.llm.keyless.candidates import is_dangling
from research.team import prompts
from research.text.markers import find_markers, strip_markers
from research.text.verdict import classify
from research.tools.search.base import Passage, SearchResult

from .team import Team

Make = Callable[..., Team]
QUESTIONS = [
    "What is a lamp and how does it work?",
    "Why are horns used?",
    "What are the limits of lamps?",
    "Which kinds of lamps are there?",
    "What is the difference between a lamp and a horn?",
    "What is the range of an oil lamp?",
    "灯塔如何工作，为什么需要灯塔？",
]


def statements(report: str) -> list[str]:
    return [line for line in report.split("\n") if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_statement_is_a_quote_at_its_offsets(
    team: Make, text_of: Callable[[Team, int], str], question: str
) -> None:
    asked = team()
    cited = 0
    for line in statements(asked.report(question)):
        for found in find_markers(line):
            marker = found.marker
            assert marker.start is not None and marker.end is not None
            text = text_of(asked, marker.source)
            said = strip_markers(line).removeprefix("- ")
            assert "".join(text[marker.start : marker.end].split()) == "".join(said.split())
            verdict = classify(line, text, marker.start, marker.end)
            assert (verdict.verdict, verdict.reason) == ("supported", "quote")
            cited += 1
    assert cited


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_statement_leans_on_what_is_not_there(team: Make, question: str) -> None:
    for line in statements(team().report(question)):
        if not list(find_markers(line)):
            continue
        said = strip_markers(line).removeprefix("- ")
        assert not is_dangling(said)
        assert not re.search(r"``|:\w+:`|::|lamp\.light|^See |^\|", said)
        assert said.count("(") == said.count(")")
        assert not said.endswith((":", "："))


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("What is a lamp and how does it work?", ["warns ships", "Fresnel lens"]),
        ("Why are horns used?", ["because fog hides"]),
        ("What are the limits of lamps?", ["cannot be seen"]),
        ("Which kinds of lamps are there?", ["Oil lamps", "Gas lamps", "Electric lamps"]),
        ("What is the difference between a lamp and a horn?", ["heard and not seen"]),
        ("What is the range of an oil lamp?", ["12 miles"]),
        ("灯塔如何工作，为什么需要灯塔？", ["透镜", "否则会撞上岩石"]),
    ],
)
def test_the_answer_stands_in_the_lead(team: Make, question: str, facts: list[str]) -> None:
    lead = team().report(question).split("\n## ")[0]
    assert [fact for fact in facts if fact not in lead] == []


def test_a_table_row_is_shown_whole(team: Make) -> None:
    lead = team().report("What is the range of an oil lamp?").split("\n## ")[0]
    assert "Lamp: Oil lamp | Range: 12 miles" in lead


def test_the_lead_lists_what_a_list_question_asks_for(team: Make) -> None:
    lead = team().report("Which kinds of lamps are there?").split("\n## ")[0]
    assert re.findall(r"^- (\w+ lamps) \[S\d+:\d+-\d+\]$", lead, re.M) == [
        "Oil lamps",
        "Gas lamps",
        "Electric lamps",
    ]


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_section_repeats_what_is_written(team: Make, question: str) -> None:
    spans = [
        (found.marker.source, found.marker.start, found.marker.end)
        for line in statements(team().report(question))
        for found in find_markers(line)
    ]
    assert len(spans) == len(set(spans))
    places = [(a, b or 0, c or 0) for a, b, c in spans]
    for one, other in combinations(sorted(places), 2):
        assert one[0] != other[0] or one[2] <= other[1]


def test_a_part_without_evidence_is_named(team: Make) -> None:
    report = team().report("What is the difference between a lamp and a zebra?")
    section = report.split("## What a zebra is")[1]
    assert section.strip() == "No evidence was found for this in the sources."


def test_nothing_found_is_said_and_nothing_invented(team: Make) -> None:
    asked = team()
    report = asked.report("Which quarks do gluons bind?")
    assert list(find_markers(report)) == []
    assert "do not answer this question" in report
    assert asked.notes == []


def test_a_search_that_finds_nothing_is_tried_again_once_in_other_words(db: None) -> None:
    asked = Team(lambda query: SearchResult("none", query))
    (task, *_) = asked.plan("What is a lamp?")
    assert "No passage" in asked.research("What is a lamp?", 1, task)
    assert 2 <= len(asked.queries) <= 5


def test_a_failing_search_ends_in_a_summary_too(team: Make) -> None:
    asked = team(failing=1)
    (task, *_) = asked.plan("What is a lamp?")
    summary = asked.research("What is a lamp?", 1, task)
    assert len(asked.queries) == 2
    assert "lamp" in summary


def test_notes_hold_sentences_with_their_markers(team: Make) -> None:
    asked = team()
    (task, *_) = asked.plan("What is a lamp?")
    summary = asked.research("What is a lamp?", 1, task)
    (call, *_) = asked.note_calls
    assert call["action"] == "create"
    assert call["title"] == "What is a lamp?"
    for line in call["content"].split("\n"):
        assert re.fullmatch(r"- \S.* \[S\d+:\d+-\d+\]", line)
    assert list(find_markers(summary))


def test_passages_that_are_not_whole_are_passed_over(db: None) -> None:
    broken = {"headings": (), "kind": "prose", "start": 0, "end": 9, "score": 1.0}
    text = "A lamp is a light that warns ships of rocks."
    good = Passage("x:1", "Lamps", ("Lamps",), "prose", 5, 60, 2.0, text)
    asked = Team(lambda query: SearchResult("web", query, (good,)))
    asked._numbered = lambda passage: broken  # type: ignore[method-assign]
    (task, *_) = asked.plan("What is a lamp?")
    assert "No passage" in asked.research("What is a lamp?", 1, task)


def test_a_provider_without_frequencies_is_ranked_all_the_same(db: None) -> None:
    text = "A lamp is a light that warns ships of rocks. Fish swim in the deep water of the sea."
    passage = Passage("x:1", "Lamps", ("Lamps",), "prose", 100, 100 + len(text), 2.0, text)
    asked = Team(lambda query: SearchResult("web", query, (passage,)))
    report = asked.report("What is a lamp?")
    first = next(find_markers(report)).marker
    assert (first.start, first.end) == (100, 144) or first.end == 100 + len(text)


def test_notes_of_another_model_are_written_up_with_their_markers(db: None) -> None:
    asked = Team(lambda query: SearchResult("none", query))
    asked.notes = [
        prompts.NoteText(1, 2, "Second", "r", "Horns help in fog, too. [S2][S3:4-9]"),
        prompts.NoteText(2, 1, "First", "r", "Lamps use __lens__ & <b>.\n1. Ships see them [S1]"),
    ]
    brief = prompts.SectionBrief(1, 1, "lead", "lead", None, "")
    lead = asked.write("How do lamps and horns help?", brief, [])
    assert lead.split("\n\n")[0] == "Ships see them [S1]"
    assert "- Horns help in fog, too. [S2] [S3:4-9]" in lead


def test_names_that_markdown_would_format_stand_as_code(db: None) -> None:
    asked = Team(lambda query: SearchResult("none", query))
    asked.notes = [prompts.NoteText(1, 1, "A", "r", "- Call __init__ with *args of <model>. [S1]")]
    brief = prompts.SectionBrief(1, 1, "lead", "lead", None, "")
    assert asked.write("How?", brief, []) == "Call `__init__` with `*args` of `<model>`. [S1]"
