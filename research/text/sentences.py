"""Sentences with their offsets, in English and Chinese, by one linear pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_END = re.compile(r"""(?<![.!?])[.!?]+["'”’)\]`*]*(?=[ \t\n]|$)|[。！？…]+[”’」』）)\]]*|\n+""")
_ABBREVIATION = frozenset(
    [
        "e.g",
        "i.e",
        "etc",
        "vs",
        "cf",
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "st",
        "no",
        "fig",
        "eq",
        "sec",
        "ch",
        "vol",
        "al",
        "approx",
        "resp",
        "inc",
        "ltd",
        "jr",
        "sr",
    ]
)
_LAST_WORD = re.compile(r"[A-Za-z.]{1,12}\Z")
_CODE = re.compile(r"[\w.]*[_(.=\[][\w.]*|[a-z]+[A-Z]")
_BULLET = re.compile(r"[ \t]*(?:[-*•‣·+]|\(?\d{1,3}[.)])[ \t]+")
_LONG = {"；": 240, ";": 520}
_SEMICOLON = re.compile("[；;]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text[start:end]`, and its place in its line."""

    start: int
    end: int
    line: int
    first: bool


def _ends_here(text: str, match: re.Match[str]) -> bool:
    """Tell whether an end mark ends a sentence (not an abbreviation, not inside one)."""
    if match[0][0] != ".":
        return True
    before = _LAST_WORD.search(text, max(0, match.start() - 12), match.start())
    if before:
        word = before[0].lower()
        if word.strip(".") in _ABBREVIATION or (len(word) == 1 and before[0].isupper()):
            return False
    after = text[match.end() : match.end() + 40].lstrip(" \t")
    if not after or not after[0].islower():
        return True
    return bool(_CODE.match(after.split(" ", 1)[0]))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _halve(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a very long sentence in parts that end with a semicolon."""
    if end - start > min(_LONG.values()):
        for match in _SEMICOLON.finditer(text, start + 40, end - 40):
            if end - start > _LONG[match[0]] and match.end() - start > 40:
                yield start, match.end()
                start = match.end()
    yield start, end


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text in order; a line end always ends one, a bullet is left out.

    Offsets are code points of `text`; spans are trimmed and never empty.
    """
    found: list[Sentence] = []
    start, line, first = 0, 0, True

    def close(end: int) -> None:
        nonlocal first
        begin = start
        if first and (bullet := _BULLET.match(text, start, end)):
            begin = bullet.end()
        for left, right in _halve(text, *_trim(text, begin, end)):
            left, right = _trim(text, left, right)
            if left < right:
                found.append(Sentence(left, right, line, first))
                first = False

    for match in _END.finditer(text):
        if match[0][0] == "\n":
            close(match.start())
            line, first, start = line + 1, True, match.end()
        elif _ends_here(text, match):
            close(match.end())
            start = match.end()
    close(len(text))
    return found
