"""The documentation is checked: what exists has to be told."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from streaming import commands, vocabulary
from streaming.closing import CloseCode
from streaming.conf import Conf
from streaming.events import DATA
from streaming.exceptions import StreamingError

ROOT = Path(__file__).resolve().parent.parent
DOCS = {page.name: page.read_text() for page in (ROOT / "docs").glob("*.md")}
SETTINGS = (ROOT / "project" / "settings.py").read_text()


@pytest.mark.parametrize("name", sorted(DATA))
def test_every_type_of_event_is_in_the_protocol_and_says_what_it_means(name: str) -> None:
    assert f"`{name}`" in DOCS["protocol.md"]
    assert DATA[name].__doc__
    assert DATA[name].__module__ == vocabulary.__name__


@pytest.mark.parametrize("name", sorted({*commands.BUILT_IN, *commands.REGISTRY}))
def test_every_command_is_in_the_protocol(name: str) -> None:
    assert f'"type":"{name}"' in DOCS["protocol.md"]
    assert f"`{name}`" in DOCS["protocol.md"] or name in ("ping", "unsubscribe")


def test_every_close_code_is_in_the_protocol() -> None:
    codes = [value for name, value in vars(CloseCode).items() if name.isupper()]
    assert len(codes) == 8
    for code in codes:
        assert f"| {code} |" in DOCS["protocol.md"]


def test_every_variable_of_the_environment_is_told() -> None:
    names = set(re.findall(r'env\(f?"([A-Z_]+)', SETTINGS)) - {"RESEARCH_MODEL_"}
    assert {"DATABASE_URL", "REDIS_URL", "PUBLIC_URL"} <= names
    assert [name for name in sorted(names) if f"`{name}`" not in DOCS["settings.md"]] == []


@pytest.mark.parametrize("field", dataclasses.fields(Conf), ids=lambda field: field.name)
def test_every_setting_of_the_stream_is_told(field: dataclasses.Field[object]) -> None:
    assert f"`{field.name.upper()}`" in DOCS["settings.md"]


def test_no_page_names_what_does_not_exist() -> None:
    told = set(re.findall(r"^\| `([a-z]+\.[a-z_]+)`", DOCS["protocol.md"], re.MULTILINE))
    assert told
    assert told - set(DATA) == set()


def _errors(kind: type[StreamingError]) -> set[str]:
    return {kind.code}.union(*(_errors(child) for child in kind.__subclasses__()))


def test_every_error_code_of_the_stream_is_told() -> None:
    codes = _errors(StreamingError) - {"error"}
    assert [code for code in sorted(codes) if f"`{code}`" not in DOCS["protocol.md"]] == []
