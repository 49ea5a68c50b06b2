"""Documents come into a collection, change, and go."""

import shutil
import threading
import time
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from research.library.add import AddReport, add_path
from research.library.find import search
from research.library.remove import remove_collection, remove_documents
from research.library.upload import add_file
from research.library.write import BATCH_DOCUMENTS
from research.models import Archive, Chunk, Collection, Document

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def indexes(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data" / "indexes"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    (path / "deep").mkdir(parents=True)
    (path / "lamps.md").write_text("# Lamps\n\nA lamp warns ships of the rocks at night.\n")
    (path / "deep" / "horns.txt").write_text("Horns\n\nA horn warns ships in the fog by day.\n")
    return path


def paths(report: AddReport) -> set[str]:
    rows = Document.objects.filter(collection_id=report.collection_id)
    return set(rows.values_list("path", flat=True))


def test_a_folder_is_added_with_all_below_it(folder: Path) -> None:
    report = add_path(folder, "sea")
    assert (report.added, report.skipped) == (2, [])
    assert paths(report) == {"lamps.md", "deep/horns.txt"}


def test_a_single_file_is_added(folder: Path) -> None:
    report = add_path(folder / "lamps.md", "sea")
    assert paths(report) == {"lamps.md"}


def test_every_passage_is_what_its_offsets_say(folder: Path) -> None:
    report = add_path(folder, "sea")
    found = search([report.collection_id], "lamp horn ships")
    assert len(found.passages) == 2
    for passage in found.passages:
        text = Archive.objects.get(pk=passage.archive_hash).text
        assert text[passage.start : passage.end] == passage.text


def test_unchanged_files_are_skipped_and_changed_ones_replaced(folder: Path) -> None:
    add_path(folder, "sea")
    (folder / "lamps.md").write_text("# Lamps\n\nNow a lamp warns balloons instead of ships.\n")
    report = add_path(folder, "sea")
    assert (report.added, report.updated, report.unchanged, report.removed) == (0, 1, 1, 0)
    texts = [passage.text for passage in search([report.collection_id], "balloons").passages]
    assert texts == ["Now a lamp warns balloons instead of ships."]
    assert not [
        passage
        for passage in search([report.collection_id], "rocks night").passages
        if "rocks" in passage.text
    ]


def test_nothing_changed_leaves_the_version_alone(folder: Path) -> None:
    report = add_path(folder, "sea")
    version = Collection.objects.get(pk=report.collection_id).version
    assert not add_path(folder, "sea").changed
    assert Collection.objects.get(pk=report.collection_id).version == version


def test_files_that_are_gone_from_a_folder_are_removed(folder: Path) -> None:
    add_path(folder, "sea")
    (folder / "lamps.md").unlink()
    report = add_path(folder, "sea")
    assert report.removed == 1
    assert paths(report) == {"deep/horns.txt"}


def test_another_folder_with_the_same_names_takes_nothing_away(
    folder: Path, tmp_path: Path
) -> None:
    add_path(folder, "sea")
    other = tmp_path / "other" / "docs"
    other.mkdir(parents=True)
    (other / "lamps.md").write_text("# Other lamps\n\nThese lamps stand in a room of a house.\n")
    report = add_path(other, "sea")
    assert (report.added, report.removed) == (1, 0)
    assert Document.objects.filter(collection_id=report.collection_id).count() == 3


def test_hidden_files_and_links_that_lead_out_are_left_out(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text("# Secret\n\nNobody may read what is written here.\n")
    (folder / "link.md").symlink_to(outside)
    (folder / "inside.md").symlink_to(folder / "lamps.md")
    (folder / "loop").symlink_to(folder)
    (folder / ".hidden.md").write_text("# Hidden\n\nNobody may read what is hidden here.\n")
    (folder / ".git").mkdir()
    (folder / ".git" / "note.md").write_text("# Git\n\nNobody may read what git keeps here.\n")
    assert paths(add_path(folder, "sea")) == {"lamps.md", "deep/horns.txt", "inside.md"}


def test_what_cannot_be_read_is_told_with_its_reason(folder: Path) -> None:
    (folder / "empty.txt").write_text("")
    (folder / "binary.txt").write_bytes(b"\x00\x01\x02")
    report = add_path(folder, "sea")
    assert [name for name, _ in sorted(report.skipped)] == ["binary.txt", "empty.txt"]
    assert dict(report.skipped)["empty.txt"] == "The file is empty."
    assert report.added == 2


def test_a_file_that_may_not_be_read_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:  # file modes stop nobody who is root
        if path.name == "lamps.md":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert [name for name, _ in add_path(folder, "sea").skipped] == ["lamps.md"]


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        add_path(tmp_path / "nowhere", "sea")


def test_progress_is_told_file_by_file(folder: Path) -> None:
    told: list[tuple[int, int, str]] = []
    add_path(folder, "sea", on_progress=lambda *args: told.append(args))
    assert told == [(1, 2, "lamps.md"), (2, 2, "deep/horns.txt")]


def test_an_upload_is_added_replaced_and_left_alone_when_unchanged() -> None:
    collection = Collection.objects.create(name="mine")
    lamp, horn = b"# A\n\nA lamp warns ships at night.\n", b"# A\n\nA horn warns ships by day.\n"
    sent = [("../../a.md", lamp), ("a.md", lamp), ("a.md", horn)]
    outcomes = [add_file(name, data, collection) for name, data in sent]
    assert [one.outcome for one in outcomes] == ["added", "unchanged", "replaced"]
    assert {one.document_id for one in outcomes} == {Document.objects.get().pk}
    assert [row.path for row in Document.objects.all()] == ["a.md"]
    assert search([collection.pk], "horn").passages[0].text == "A horn warns ships by day."


def test_an_upload_that_cannot_be_read_says_why() -> None:
    collection = Collection.objects.create(name="mine")
    outcome = add_file("a.exe", b"MZ", collection)
    assert (outcome.outcome, outcome.code) == ("refused", "unsupported")
    assert outcome.reason == "Files of the kind “.exe” cannot be read."
    assert not Document.objects.exists()


def test_documents_of_the_same_text_share_it() -> None:
    collection = Collection.objects.create(name="mine")
    for name in ("a.md", "b.md"):
        add_file(name, b"# A\n\nA lamp warns ships at night.\n", collection)
    assert Archive.objects.count() == 1
    remove_documents(Document.objects.filter(path="a.md"))
    assert Archive.objects.count() == 1
    remove_documents(Document.objects.filter(path="b.md"))
    assert Archive.objects.count() == 0


def test_a_removed_collection_leaves_nothing_behind(folder: Path, indexes: Path) -> None:
    report = add_path(folder, "sea")
    assert list(indexes.iterdir())
    assert remove_collection(Collection.objects.get(pk=report.collection_id)) == 2
    assert not Document.objects.exists()
    assert not Chunk.objects.exists()
    assert not Archive.objects.exists()
    assert not list(indexes.iterdir())


def test_a_large_folder_is_written_in_small_transactions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(3 * BATCH_DOCUMENTS):
        (folder / f"{number:03}.md").write_text(
            f"# Page {number}\n\nPage {number} tells of lamps.\n"
        )
    seen: list[int] = []
    real = transaction.atomic

    def atomic() -> Any:
        seen.append(Document.objects.count())
        return real()

    monkeypatch.setattr("research.library.write.transaction", SimpleNamespace(atomic=atomic))
    add_path(folder, "many")
    assert sorted(set(seen)) == [0, BATCH_DOCUMENTS, 2 * BATCH_DOCUMENTS]


@pytest.mark.django_db(transaction=True)
def test_another_connection_writes_while_a_folder_is_added(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(200):
        body = "".join(f"\n\nLamp {number} has part {part} that warns ships." for part in range(60))
        (folder / f"{number:03}.md").write_text(f"# Page {number}{body}\n")
    waits: list[float] = []
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            started = time.monotonic()
            Collection.objects.create(name=f"other {started}")
            waits.append(time.monotonic() - started)
            time.sleep(0.01)
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        add_path(folder, "many")
    finally:
        stop.set()
        thread.join()
    assert len(waits) > 3
    assert max(waits) < 1.5


def test_the_command_adds_lists_and_removes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    User.objects.create_user("ann")
    call_command("library", "add", str(folder), "--collection", "sea", "--user", "ann")
    call_command("library", "list")
    call_command("library", "remove", "sea", "--user", "ann")
    call_command("library", "list")
    assert capsys.readouterr().out.splitlines() == [
        "sea: 2 added, 0 updated, 0 unchanged, 0 removed, 0 left out",
        "sea (ann): 2 documents",
        "sea: removed with 2 documents",
        "There are no collections yet.",
    ]


def test_the_command_names_a_collection_after_its_folder(folder: Path) -> None:
    call_command("library", "add", str(folder), stdout=StringIO())
    assert Collection.objects.get().name == "docs"


@pytest.mark.parametrize(
    "arguments",
    [("add", "/nowhere/at/all"), ("remove", "nothing"), ("add", ".", "--user", "nobody")],
)
def test_the_command_says_what_is_not_there(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="There is no"):
        call_command("library", *arguments)


def test_a_folder_that_is_empty_leaves_an_empty_collection(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    report = add_path(tmp_path / "none", "none")
    assert not report.changed
    assert search([report.collection_id], "lamp").passages == ()


def test_a_collection_emptied_again_is_searched_in_vain(folder: Path) -> None:
    add_path(folder, "sea")
    shutil.rmtree(folder)
    folder.mkdir()
    report = add_path(folder, "sea")
    assert report.removed == 2
    assert search([report.collection_id], "lamp").passages == ()


def test_files_are_read_again_once_they_are_read_in_another_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lamp.md").write_text("# Lamp\n\nA lamp warns ships.\n")
    assert add_path(tmp_path, "sea").added == 1
    assert add_path(tmp_path, "sea").unchanged == 1
    monkeypatch.setattr("research.library.reading.READING", 99)
    assert add_path(tmp_path, "sea").updated == 1
