"""Reports are scored by what a person sees first."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from research.evaluation import Question, read_questions, score, score_question
from research.library.add import add_path

QUESTIONS = [
    {"corpus": "sea", "question": "How do lighthouses warn ships?", "nuggets": ["lamp", "horn"]},
    {"corpus": "air", "question": "How do planes fly?", "nuggets": ["wing"]},
]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(QUESTIONS))
    return path


def test_the_first_screen_and_the_whole_report_are_scored() -> None:
    body = "Lamps warn. " + "x" * 1600 + " horns"
    result = score(body, ["LAMPS", "horns", "bells"], "en")
    assert (result.first, result.whole) == (1.0, 2.0)
    assert result.missing == ("horns", "bells")


def test_a_fact_may_run_over_lines() -> None:
    assert score("lamps\n\nand horns", ["lamps.*horns"], "en").first == 3.0


def test_a_chinese_screen_holds_fewer_characters() -> None:
    question = Question("sea", "灯塔是什么？", ("灯光",))
    assert score_question(question, "岸" * 740 + "灯光").first == 3.0
    assert score_question(question, "岸" * 760 + "灯光").first == 0.0


def test_questions_of_one_corpus_are_read(questions: Path) -> None:
    assert [question.text for question in read_questions(questions, "air")] == [
        "How do planes fly?"
    ]
    assert len(read_questions(questions)) == 2


@pytest.mark.django_db(transaction=True)
def test_the_command_researches_and_scores_each_question(
    questions: Path, tmp_path: Path, data_dir: Path
) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "lamps.md").write_text(
        "# Lighthouses\n\nLighthouses warn ships with a lamp at night. "
        "In fog, lighthouses warn ships with a horn.\n"
    )
    add_path(folder, "sea")
    out = StringIO()
    saved = tmp_path / "reports"
    call_command(
        "evaluate", str(questions), collection="sea", corpus="sea", save=str(saved), stdout=out
    )
    lines = out.getvalue().splitlines()
    assert lines[0] == "3.00 3.00  How do lighthouses warn ships?"
    assert lines[-2] == "sea: 3.00 of 3 at first sight, 3.00 in the whole report (1)"
    assert lines[-1] == "mean 3.00"
    assert "with a horn. [" in (saved / "001.md").read_text()


@pytest.mark.django_db
def test_the_command_says_what_is_missing(questions: Path, tmp_path: Path, data_dir: Path) -> None:
    with pytest.raises(CommandError, match="no collection"):
        call_command("evaluate", str(questions), collection="sea")
    (tmp_path / "none").mkdir()
    add_path(tmp_path / "none", "sea")
    with pytest.raises(CommandError, match="no such questions"):
        call_command("evaluate", str(questions), collection="sea", corpus="fire")
    with pytest.raises(CommandError, match=r"nothing\.json"):
        call_command("evaluate", str(tmp_path / "nothing.json"), collection="sea")
