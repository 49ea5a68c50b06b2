"""Uploads: read in a process of their own, written by many at once, indexed beside them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from hypothesis import given
from hypothesis import strategies as st

from research import sandbox
from research.library import later, reading
from research.library.find import search
from research.library.index import load
from research.library.names import MAX_NAME, MAX_PATH, safe_path, suffix_of
from research.library.unreadable import REASONS, Unreadable
from research.library.upload import Bytes, Outcome, add_file, add_files
from research.models import Archive, Chunk, Collection, Document

LAMP = b"# Lamps\n\nA lamp warns ships at night.\n"


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Any, settings: Any) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def collection(db: None) -> Collection:
    return Collection.objects.create(name="mine")


# --- names ----------------------------------------------------------------------------------------
@given(st.text(max_size=700))
def test_every_name_becomes_a_short_path_that_leads_down_or_is_refused(name: str) -> None:
    try:
        path = safe_path(name)
    except Unreadable as error:
        assert error.code == "bad_name"
        return
    assert 0 < len(path) <= MAX_PATH
    parts = path.split("/")
    assert all(part.strip(". ") and len(part) <= MAX_NAME for part in parts)
    assert path.isprintable() or "\u200d" in path or "\u200c" in path
    assert safe_path(path) == path


@given(st.text(st.characters(categories=["L"]), min_size=1, max_size=400))
def test_a_short_name_keeps_its_suffix(stem: str) -> None:
    assert suffix_of(safe_path(f"{stem}.docx")) == ".docx"


# --- reading --------------------------------------------------------------------------------------
def test_what_is_sent_is_parsed_elsewhere(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = sandbox.call

    def call(target: str, *args: Any, **given: Any) -> Any:
        asked.append(target)
        return real(target, *args, **given)

    monkeypatch.setattr(sandbox, "call", call)
    assert add_file("a.md", LAMP, collection).outcome == "added"
    assert asked == ["research.library.parse:parse_all"]


@pytest.mark.parametrize(
    ("code", "told"),
    [("too_slow", "too_slow"), ("too_large", "unpacks_too_large"), ("broken", "broken")],
)
def test_a_file_at_which_the_reader_breaks_is_refused_and_the_next_is_read(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, code: Any, told: str
) -> None:
    real = sandbox.call

    def call(target: str, files: Any, **given: Any) -> Any:
        if "bad.md" in dict(files):
            raise sandbox.SandboxError(code)
        return real(target, files, **given)

    monkeypatch.setattr(sandbox, "call", call)
    bad, good = add_files(collection, [Bytes("bad.md", LAMP), Bytes("good.md", LAMP)], 1000)
    assert (bad.outcome, bad.code, bad.reason) == ("refused", told, str(REASONS[told]))
    assert good.outcome == "added"


@given(st.lists(st.tuples(st.sampled_from([".md", ".pdf", ".docx"]), st.integers(1, 300_000))))
def test_files_are_read_in_order_texts_together_and_archives_alone(
    sent: list[tuple[str, int]],
) -> None:
    files = [reading.File(f"{n}{kind}", "", b"x" * size) for n, (kind, size) in enumerate(sent)]
    groups = list(reading._groups(files))
    assert [file for group in groups for file in group] == files
    for group in groups:
        assert len(group) == 1 or all(file.name.endswith(".md") for file in group)
        assert len(group) == 1 or sum(len(file.data) for file in group) <= reading.TOGETHER_BYTES
        assert len(group) <= reading.TOGETHER_FILES


def test_every_reason_is_a_sentence() -> None:
    for code in REASONS:
        said = str(Unreadable(code, "7"))
        assert said[0].isupper() and said.endswith((".", "。")), code
        assert "{" not in said


# --- writing --------------------------------------------------------------------------------------
def test_of_two_files_of_one_name_the_later_counts(collection: Collection) -> None:
    other = b"# Horns\n\nA horn warns ships.\n"
    first, second = add_files(collection, [Bytes("a.md", LAMP), Bytes("a.md", other)], 1000)
    assert (first.document_id, second.document_id) == (second.document_id, first.document_id)
    assert Document.objects.get().title == "Horns"
    assert "horn" in search([collection.pk], "horn ships").passages[0].text


def test_what_is_replaced_leaves_no_text_behind(collection: Collection) -> None:
    add_file("a.md", LAMP, collection)
    add_file("a.md", b"# Horns\n\nA horn warns ships.\n", collection)
    assert Archive.objects.count() == 1
    assert Chunk.objects.count() == 1


def close(gate: threading.Barrier) -> None:
    connections.close_all()
    gate.wait(10)


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_many_who_send_the_same_names_at_once_make_each_document_once() -> None:
    collection = Collection.objects.create(name="mine")

    def send(who: int) -> list[Outcome]:
        files = [Bytes(f"{n}.md", f"# {n}\n\nLamp {n} of {who}.\n".encode()) for n in range(8)]
        return add_files(collection, files, 1000)

    threads = 4
    with ThreadPoolExecutor(threads) as pool:
        outcomes = [one for found in pool.map(send, range(threads)) for one in found]
        gate = threading.Barrier(threads)
        list(pool.map(close, [gate] * threads))
    assert {one.outcome for one in outcomes} == {"added", "replaced"}
    assert [one.outcome for one in outcomes].count("added") == 8
    assert collection.documents.count() == 8
    assert Chunk.objects.count() == 8


# --- the index ------------------------------------------------------------------------------------
@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The versions at which indexes were built beside the test."""
    seen: list[int] = []

    def seen_load(collection: Collection) -> Any:
        seen.append(collection.version)
        return load(collection)

    monkeypatch.setattr(later, "load", seen_load)
    monkeypatch.setattr(later, "DELAY_S", 0.2)
    yield seen
    for thread in threading.enumerate():
        if thread.name.startswith("index-"):
            thread.join(10)


@pytest.mark.django_db(transaction=True)
def test_after_many_changes_the_index_is_built_once(builds: list[int]) -> None:
    collection = Collection.objects.create(name="mine")
    for number in range(5):
        add_file(f"{number}.md", f"# {number}\n\nLamp {number}.\n".encode(), collection)
        later.soon(collection.pk)
    deadline = time.monotonic() + 10
    while not builds and time.monotonic() < deadline:
        time.sleep(0.02)
    assert builds == [5]
    time.sleep(0.4)
    assert builds == [5]


@pytest.mark.django_db(transaction=True)
def test_a_collection_that_is_gone_is_not_indexed(
    builds: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    later.soon(99)
    time.sleep(0.5)
    assert (builds, caplog.records) == ([], [])
