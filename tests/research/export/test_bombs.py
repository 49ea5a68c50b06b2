"""What is made to break an exporter ends within its limits: as a file, or with a code."""

from __future__ import annotations

import time

import pytest

from research import sandbox
from research.report.html import render as html
from research.report.markdown import render as markdown
from research.report.tree import parse
from research.sandbox import Limits, SandboxError
from tests.research.export.reports import report, squashed, text_of_docx, text_of_pdf

LIMITS = Limits(wall_s=60, cpu_s=60, memory_bytes=2 << 30)
BOMBS = {
    "a megabyte": "word *a* [x](http://y.example/) `c` 中文\n\n" * 25_000,
    "a word without an end": "a" * 200_000,
    "quotes in quotes": ">" * 20_000 + " x",
    "lists in lists": "".join("  " * level + "- x\n" for level in range(1500)),
    "a wide table": "|" + "a|" * 3000 + "\n|" + "-|" * 3000 + "\n|" + "b|" * 3000,
    "link references": "".join(f"[r{n}]: http://x.example/{n}\n" for n in range(20_000))
    + " ".join(f"[r{n}]" for n in range(20_000)),
    "brackets": "[" * 50_000,
    "emphasis": "_a_*" * 20_000,
    "images": "![" * 30_000,
    "citations": "[1]" * 30_000,
    "code in a line": "`a` " * 100_000,
    "code in many lines": "`a`\n" * 100_000,
    "a great number": "99999999999999999999999. x",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_read_as_markdown_in_little_time(name: str) -> None:
    for work in (lambda: parse(BOMBS[name]), lambda: html(report(BOMBS[name]))):
        began = time.process_time()
        work()
        assert time.process_time() - began < 5
    began = time.process_time()
    assert len(markdown(report(BOMBS[name]))) >= len(BOMBS[name]) * 0.9
    assert time.process_time() - began < 2


SLOW = {("pdf", "citations"), ("docx", "a megabyte")}
"""What needs more seconds than a test should take; its limit is tested below."""


@pytest.mark.parametrize("format", ["pdf", "docx"])
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_becomes_a_file_or_is_refused_with_a_code(format: str, name: str) -> None:
    seconds = 2 if (format, name) in SLOW else 60
    limits = Limits(wall_s=seconds, cpu_s=60, memory_bytes=2 << 30)
    began = time.monotonic()
    try:
        made = sandbox.call(
            f"research.report.{format}:render", report(BOMBS[name]), limits=limits, returns=bytes
        )
    except SandboxError as error:
        assert error.code in ("too_slow", "too_large")
        assert seconds == 2
    else:
        assert made[:4] in (b"%PDF", b"PK\x03\x04")
    assert time.monotonic() - began < 80


def test_a_report_that_needs_too_much_memory_is_refused_and_the_next_is_not() -> None:
    small = Limits(wall_s=60, cpu_s=60, memory_bytes=96 << 20)
    with pytest.raises(SandboxError) as refused:
        sandbox.call(
            "research.report.pdf:render", report(BOMBS["a megabyte"]), limits=small, returns=bytes
        )
    assert refused.value.code in ("too_large", "broken")
    made = sandbox.call("research.report.pdf:render", report("x"), limits=LIMITS, returns=bytes)
    assert made.startswith(b"%PDF")


def test_deep_lists_keep_their_innermost_words() -> None:
    text = "".join("  " * level + f"- w{level}w\n" for level in range(40))
    for format, read in (("pdf", text_of_pdf), ("docx", text_of_docx)):
        made = sandbox.call(
            f"research.report.{format}:render", report(text), limits=LIMITS, returns=bytes
        )
        shown = squashed(read(made))
        assert [level for level in range(40) if f"w{level}w" not in shown] == []
