"""What the settings cannot mean is told before anything starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.utils.module_loading import import_string
from pytest_django.fixtures import Settings

from project.checks import DEFAULT_ENGINE, check_settings
from tests.rig.server import ROOT


@pytest.fixture(autouse=True)
def no_test_host(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = list(settings.LOCAL_HOSTS)  # the test runner adds one


def ids() -> list[str | None]:
    return [message.id for message in check_settings()]


def test_the_defaults_are_right() -> None:
    assert ids() == []


def test_the_default_engine_is_there(settings: Settings) -> None:
    assert DEFAULT_ENGINE == settings.ENGINE
    assert import_string(settings.ENGINE)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"ENGINE": "research.engine.nothing.Engine"}, ["project.E001"]),
        ({"DATA_DIR": Path("/nowhere/at/all")}, ["project.E002"]),
        ({"SECRET_KEY": "short"}, ["project.E003"]),
        ({"SECRET_KEY": "a" * 80}, ["project.E003"]),
        ({"SECRET_KEY": "django-insecure-" + "abcdefgh" * 10}, ["project.E003"]),
        ({"DEBUG": True, "ALLOWED_HOSTS": ["a.example"]}, ["project.E004"]),
        ({"DEBUG": True, "PUBLIC_ORIGIN": "https://a.example"}, ["project.E004"]),
        ({"DEBUG": True, "HOST": "192.0.2.1"}, ["project.E004"]),
        ({"DEBUG": True}, []),
        ({"ALLOWED_HOSTS": ["*"]}, ["project.E005"]),
        ({"DATABASE_URL": "mysql://a/b"}, ["project.E006"]),
        ({"REDIS_URL": "memcached://a"}, ["project.E007"]),
        ({"PUBLIC_URL": "a.example"}, ["project.E008"]),
        ({"STREAMING": {"ACCESS": "project.nothing"}}, ["project.E010"] * 5),
        ({"STREAMING": {"NO_SUCH_NAME": 1}}, ["project.E010"]),
        ({"HOST": "0.0.0.0"}, ["project.W001"]),
        ({"PUBLIC_ORIGIN": "http://a.example"}, ["project.W002"]),
        ({"PUBLIC_ORIGIN": "http://a.example:8000"}, ["project.W002"]),
        ({"PUBLIC_ORIGIN": "https://a.example"}, []),
        ({"PUBLIC_ORIGIN": "http://127.0.0.1:8000"}, []),
        ({"HOST": "0.0.0.0", "ALLOWED_HOSTS": ["a.example"]}, []),
    ],
)
def test_each_mistake_is_told_by_its_id(
    settings: Settings, changes: dict[str, Any], expected: list[str]
) -> None:
    for name, value in changes.items():
        setattr(settings, name, value)
    assert ids() == expected


@pytest.mark.parametrize("server", ["daphne", "uvicorn"])
def test_a_server_refuses_to_start_with_a_guessable_key(server: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", server, "project.asgi:application"],
        cwd=ROOT, env={"DATA_DIR": str(tmp_path), "SECRET_KEY": "short"},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode != 0
    assert "SECRET_KEY can be guessed" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_search_provider_that_nobody_knows_is_told(settings: Any) -> None:
    settings.SEARCH_PROVIDERS = ["library", "altavista"]
    assert [error.id for error in check_settings()] == ["project.E011"]


def test_every_name_of_a_provider_leads_to_one() -> None:
    from research.tools.search.asking import PROVIDERS
    from research.tools.search.names import NAMES

    assert tuple(PROVIDERS) == NAMES
    assert [PROVIDERS[name]().name for name in NAMES] == list(NAMES)
