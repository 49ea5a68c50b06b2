"""Names of files: safe on every system, and in the header that carries them."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.export.filename import disposition, filename


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("How do lighthouses warn ships?", "How do lighthouses warn ships.pdf"),
        ("../../x", "x.pdf"),
        ("..\\..\\x", "x.pdf"),
        ("/etc/passwd", "etc passwd.pdf"),
        ("a\r\nSet-Cookie: y", "a Set-Cookie y.pdf"),
        ("CON", "report CON.pdf"),
        ("con.txt", "report con.txt.pdf"),
        ("COM1", "report COM1.pdf"),
        ("console", "console.pdf"),
        ("", "report.pdf"),
        (" . ", "report.pdf"),
        ("???", "report.pdf"),
        (".hidden", "hidden.pdf"),
        ("x\u202efdp.exe", "xfdp.exe.pdf"),
        ("a\0b\x1b[31mc", "ab[31mc.pdf"),
        ("灯塔如何警告船只？", "灯塔如何警告船只？.pdf"),
        ('a"b;c', "a b;c.pdf"),
        ("What is it that " * 20, "What is it that " * 4 + "What is it that.pdf"),
    ],
)
def test_a_title_becomes_a_name(title: str, name: str) -> None:
    assert filename(title, "pdf") == name


@pytest.mark.parametrize("title", ["x" * 300, "灯" * 300, "👨‍👩‍👧" * 100])
def test_a_long_title_becomes_a_name_that_file_systems_take(title: str) -> None:
    name = filename(title, "docx")
    assert len(name.encode()) <= 190
    assert name.endswith(".docx") and len(name) > 40


@given(st.text(), st.sampled_from(["pdf", "md"]))
def test_every_name_is_no_path_and_every_header_is_one_line(title: str, extension: str) -> None:
    name = filename(title, extension)
    assert not re.search(r'[/\\:*?"<>|%\x00-\x1f\u202a-\u202e\u2066-\u2069]', name)
    assert not name.startswith((".", " ")) and name.endswith(f".{extension}")
    header = disposition(name)
    assert header.isascii() and header.isprintable()
    found = re.fullmatch(r"attachment; filename=\"([^\"\\]+)\"; filename\*=UTF-8''(\S+)", header)
    assert found and unquote(found[2]) == name
    assert found[1].endswith(f".{extension}")


def test_an_old_client_gets_a_plain_name() -> None:
    assert disposition("灯塔 lamps.pdf").startswith('attachment; filename="lamps.pdf"; ')
    assert disposition("灯塔.pdf") == (
        "attachment; filename=\"report.pdf\"; filename*=UTF-8''%E7%81%AF%E5%A1%94.pdf"
    )
