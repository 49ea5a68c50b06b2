"""Every text is there in Chinese, with the same parts to be filled in."""

from __future__ import annotations

import re
import string

import pytest
from babel.messages.catalog import Catalog

from tests.rig.translations import MO, Text, compiled, read, texts

PLACEHOLDER = re.compile(r"%(?:\((\w+)\))?[a-z%]")


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return read()


@pytest.fixture(scope="module")
def said() -> dict[Text, str]:
    return texts()


def _parts(text: str) -> set[str]:
    named = {match[0] for match in PLACEHOLDER.finditer(text) if match[0] != "%%"}
    return named | {f"{{{name}}}" for _, name, _, _ in string.Formatter().parse(text) if name}


def _chinese(catalog: Catalog, text: Text) -> str:
    message = catalog.get(text[0])
    if message is None or message.fuzzy:
        return ""
    said = message.string[0] if isinstance(message.string, tuple) else message.string
    return str(said or "")


def test_every_text_of_the_code_has_a_translation(catalog: Catalog, said: dict[Text, str]) -> None:
    missing = {text[0]: path for text, path in said.items() if not _chinese(catalog, text).strip()}
    assert missing == {}, "write them into research/locale, after python -m tests.rig.translations"


def test_a_translation_has_the_parts_of_its_text(catalog: Catalog, said: dict[Text, str]) -> None:
    other = {
        text[0]: _chinese(catalog, text)
        for text in said
        if _parts(_chinese(catalog, text)) != _parts(text[-1])
    }
    assert other == {}


def test_no_translation_is_left_of_a_text_that_is_gone(
    catalog: Catalog, said: dict[Text, str]
) -> None:
    known = {text[0] for text in said}
    ids = (message.id[0] if isinstance(message.id, tuple) else message.id for message in catalog)
    assert [id for id in ids if id and id not in known] == []


def test_what_django_reads_is_made_of_the_catalogue_as_it_is(catalog: Catalog) -> None:
    assert MO.read_bytes() == compiled(catalog)
