"""`manage.py library`, and the exit code that tells a script how it went."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from research.models import Collection

from .papers import pdf

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    made = tmp_path / "harbour"
    made.mkdir()
    (made / "lamps.md").write_text(
        "# Lamps\n\nA lamp warns ships at night. [red]No markup.[/red]\n"
    )
    (made / "潮汐.txt").write_text("潮汐\n\n潮汐每天涨落两次。\n")
    (made / "tides.pdf").write_bytes(pdf())
    return made


def library(*arguments: object, status: int = 0) -> tuple[str, str]:
    """Run it, and return what it said and what it complained of."""
    out, complaints = StringIO(), StringIO()
    given = [str(argument) for argument in arguments]
    try:
        call_command("library", *given, stdout=out, stderr=complaints, no_color=True)
        code = 0
    except SystemExit as left:
        code = int(left.code or 0)
    except CommandError as error:
        code = error.returncode
        complaints.write(str(error))
    assert code == status, complaints.getvalue()
    return out.getvalue(), complaints.getvalue()


def test_files_and_folders_are_added_together(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "alone.md").write_text("# Alone\n\nA buoy marks the rocks.\n")
    (tmp_path / "other.md").write_text("# Other\n\nA bell rings.\n")
    told, _ = library(
        "add", folder, tmp_path / "alone.md", tmp_path / "other.md", "--collection", "sea"
    )
    assert told == "sea: 5 added, 0 updated, 0 unchanged, 0 removed, 0 left out\n"
    told, _ = library("add", tmp_path / "alone.md", "--collection", "sea")
    assert told == "sea: 0 added, 0 updated, 1 unchanged, 0 removed, 0 left out\n"


def test_without_a_name_each_folder_names_its_own(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "alone.md").write_text("# Alone\n\nA buoy marks the rocks.\n")
    library("add", folder, folder / "lamps.md", tmp_path / "alone.md")
    names = Collection.objects.values_list("name", flat=True)
    assert sorted(names) == sorted(["harbour", tmp_path.name])


def test_a_search_shows_the_passage_its_place_and_its_file(folder: Path) -> None:
    library("add", folder)
    found, _ = library("search", "highest water of the bay", "--limit", "1")
    head, path, text = found.splitlines()[:3]
    assert head == "Tides of the bay > Storm surges > Page 3"
    assert path == "tides.pdf"
    assert text.startswith("The highest water of the bay was 9.4 m")
    assert "[red]No markup.[/red]" in library("search", "lamp ships night")[0]
    assert "潮汐每天涨落两次。" in library("search", "潮汐涨落", "--collection", "harbour")[0]


def test_a_search_that_finds_nothing_ends_with_one(folder: Path) -> None:
    library("add", folder)
    assert library("search", "zebra", status=1) == ("", "Nothing was found.\n")


def test_a_user_finds_their_own_and_what_is_everybodys(folder: Path) -> None:
    User.objects.create_user("ann")
    User.objects.create_user("bob")
    library("add", folder, "--user", "ann")
    assert "A lamp" in library("search", "lamp", "--user", "ann")[0]
    library("search", "lamp", "--user", "bob", status=1)
    library("search", "lamp", status=1)
    assert "harbour (ann): 3 documents" in library("list")[0]
    assert library("list", "--user", "bob")[0] == "There are no collections yet.\n"


def test_documents_are_listed_and_removed_by_their_paths(folder: Path) -> None:
    library("add", folder)
    assert library("list", "harbour")[0].splitlines() == [
        "lamps.md  Lamps",
        "tides.pdf  Tides of the bay",
        "潮汐.txt  潮汐",
    ]
    told, complaints = library("remove", "harbour", "lamps.md", "none.md", status=1)
    assert told == "harbour: 1 documents removed\n"
    assert complaints == "There is no document “none.md”.\n"
    library("search", "lamp", status=1)
    assert library("remove", "harbour")[0] == "harbour: removed with 2 documents\n"


def test_a_named_file_that_cannot_be_read_ends_with_one_and_in_a_folder_is_told(
    folder: Path,
) -> None:
    (folder / "empty.txt").write_text("")
    told, complaints = library("add", folder)
    assert "3 added" in told
    assert complaints == "left out empty.txt: The file is empty.\n"
    library("add", folder / "empty.txt", status=1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "/nowhere/at/all"),
        ("add", ".", "--user", "nobody"),
        ("remove", "nothing"),
        ("list", "nothing"),
        ("search", "lamp", "--collection", "nothing"),
    ],
)
def test_what_cannot_begin_ends_with_two(arguments: tuple[str, ...]) -> None:
    _, complaint = library(*arguments, status=2)
    assert complaint.startswith("There is no ")
