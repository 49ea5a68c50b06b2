"""`manage.py export`."""

from __future__ import annotations

from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from research.export import export
from research.models import Run
from tests.research import recorded

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return recorded.record(User.objects.create_user("ada"))


def ask(run: Any, *options: str) -> str:
    told = StringIO()
    call_command("export", str(run), *options, stderr=told)
    return told.getvalue()


def test_it_writes_a_file_and_says_how_large_it_is(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.pdf"
    told = ask(run.pk, "--format", "pdf", "--output", str(file))
    assert file.read_bytes().startswith(b"%PDF-")
    assert told == f"{file}: {file.stat().st_size} bytes\n"


def test_without_a_name_the_file_is_named_after_the_question(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Run.objects.filter(pk=run.pk).update(topic="../../Why?")
    ask(run.pk)
    assert [path.name for path in tmp_path.iterdir()] == ["Why.md"]


def test_a_file_that_is_there_stays_unless_one_says_so(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_text("mine")
    with pytest.raises(CommandError, match="is there already"):
        ask(run.pk, "--output", str(file))
    assert file.read_text() == "mine"
    ask(run.pk, "--output", str(file), "--force")
    assert file.read_text().startswith("# How")


def test_a_dash_is_the_standard_output_and_nothing_else_is_said_there(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = BytesIO()
    monkeypatch.setattr("sys.stdout", TextIOWrapper(written))
    assert ask(run.pk, "--format", "json", "--output", "-") == ""
    assert written.getvalue() == export(run.pk, "json").data


def test_what_cannot_be_done_is_told_in_a_sentence(run: Run, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no such run"):
        ask(uuid4())
    with pytest.raises(CommandError, match="invalid choice"):
        ask(run.pk, "--format", "exe")
    with pytest.raises(CommandError, match="invalid UUID"):
        ask("nonsense")
    with pytest.raises(CommandError, match="cannot be written"):
        ask(run.pk, "--output", str(tmp_path / "none" / "x.md"))
