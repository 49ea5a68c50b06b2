"""The catalogue of translations: what the code says to people, and what is said in Chinese.

`python -m tests.rig.translations` brings the catalogue up to date with the code and compiles it:
new texts stand in it without a translation until somebody writes one.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent.parent
LOCALE = ROOT / "research" / "locale" / "zh_Hans" / "LC_MESSAGES"
PO, MO = LOCALE / "django.po", LOCALE / "django.mo"
CODE = ("project", "research", "streaming")
FUNCTIONS = {
    "_": 1, "gettext": 1, "gettext_lazy": 1, "gettext_noop": 1, "ngettext": 2, "ngettext_lazy": 2,
}  # fmt: skip

OF_DJANGO = ("Model name", "Add link", "Change or view list link", "Search %(name)s")
"""Texts of Django's own pages that its Chinese catalogue lacks."""

Text = tuple[str, ...]
"""A text, or a text and its plural."""


def texts() -> dict[Text, str]:
    """Return every text that is translated, and the file in which it stands first."""
    found: dict[Text, str] = {}
    for path, source in _sources():
        for text in _calls(source, path):
            found.setdefault(text, path.relative_to(ROOT).as_posix())
    return found | {(text,): "django" for text in OF_DJANGO}


def read() -> Catalog:
    """Return the catalogue as it is."""
    if not PO.exists():
        return Catalog(locale="zh_Hans", domain="django")
    with PO.open("rb") as file:
        return read_po(file, locale="zh_Hans", domain="django")


def compiled(catalog: Catalog) -> bytes:
    """Return what Django reads."""
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def update() -> None:
    """Write the catalogue anew with the texts of the code, and what is known of them."""
    known = read()
    fresh = Catalog(
        locale="zh_Hans", domain="django", fuzzy=False, header_comment="# 简体中文",
        project="Soundings", version="1", msgid_bugs_address="-", last_translator="-",
        language_team="-",
    )  # fmt: skip
    fresh.creation_date = fresh.revision_date = known.creation_date
    for text, path in texts().items():
        before = known.get(text[0])
        said: Any = before.string if before else ""
        if len(text) > 1 and not isinstance(said, tuple):
            said = (said,)
        fresh.add(text if len(text) > 1 else text[0], said, locations=[(path, 0)])
    LOCALE.mkdir(parents=True, exist_ok=True)
    with PO.open("wb") as file:
        write_po(file, fresh, width=100, sort_by_file=True, include_lineno=False, omit_header=False)
    MO.write_bytes(compiled(read()))


def _sources() -> Iterator[tuple[Path, str]]:
    for room in CODE:
        for path in sorted((ROOT / room).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path, path.read_text("utf-8")
    for path in sorted((ROOT / "templates").rglob("*.*")):
        yield path, _as_python(path.read_text("utf-8"))


def _as_python(template: str) -> str:
    """Return the translated texts of a template as calls, a line each."""
    from django.utils.translation.template import templatize

    calls = re.findall(r" (?:\w*gettext|_)\((?:.*?)\) ", templatize(template), re.DOTALL)
    return "\n".join(call.strip().replace("\n", "\\n") for call in calls)


def _calls(source: str, path: Path) -> Iterator[Text]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        count = FUNCTIONS.get(node.func.id)
        if count is None:
            if node.func.id.endswith("gettext"):
                raise ValueError(f"{path}: {node.func.id}() is not looked for here")
            continue
        values = [arg.value for arg in node.args[:count] if isinstance(arg, ast.Constant)]
        said = tuple(value for value in values if isinstance(value, str))
        if len(said) != count:
            raise ValueError(f"{path}: {node.func.id}() of what is no text: {ast.unparse(node)}")
        yield said


if __name__ == "__main__":
    update()
