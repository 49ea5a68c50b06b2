"""The first start, and the second."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from pytest_django.fixtures import Settings

from research.management.commands import first_run
from research.models import Collection, Document

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path
    directory = tmp_path / "docs"
    (directory / "zh").mkdir(parents=True)
    (directory / "log.md").write_text("# The log\n\nThe event log is the truth of every run.\n")
    (directory / "zh" / "log.md").write_text("# 日志\n\n事件日志是每次运行的真相。\n")
    monkeypatch.setattr(first_run, "DOCS", directory)
    return directory


def start() -> str:
    out = io.StringIO()
    call_command("first_run", stdout=out)
    return out.getvalue()


def documents() -> dict[str, list[str]]:
    return {
        collection.name: [document.path for document in collection.documents.all()]
        for collection in Collection.objects.order_by("name")
    }


def test_the_first_start_makes_a_user_and_shows_the_password_once(settings: Settings) -> None:
    said = start()
    password = said.split("with the password ")[1].split()[0]
    user = get_user_model().objects.get(username="admin")
    assert user.is_superuser
    assert user.check_password(password)
    assert f"http://{settings.HOST}:{settings.PORT}/" in said
    assert password not in start()
    assert user.password == get_user_model().objects.get(username="admin").password


def test_the_first_user_may_be_named_by_the_environment(settings: Settings) -> None:
    settings.FIRST_USER, settings.FIRST_PASSWORD = "ann", "correct horse"
    said = start()
    assert "ann" in said
    assert "correct horse" not in said
    assert get_user_model().objects.get().check_password("correct horse")


def test_the_documentation_is_a_collection_of_each_language() -> None:
    start()
    assert documents() == {"Soundings": ["log.md"], "Soundings 中文": ["log.md"]}


def test_a_second_start_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    start()
    before = list(Document.objects.order_by("pk").values())
    monkeypatch.setattr(first_run, "_collections", lambda: pytest.fail("The stamp was ignored."))
    start()
    assert list(Document.objects.order_by("pk").values()) == before


def test_a_page_that_changed_is_read_again(docs: Path) -> None:
    start()
    (docs / "new.md").write_text("# New\n\nA page that came with an update of the program.\n")
    start()
    assert documents()["Soundings"] == ["log.md", "new.md"]
