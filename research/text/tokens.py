"""Words as search compares them: stems, identifiers whole and in parts, pairs of Han characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from threading import local

import Stemmer

_STOP = """
a about after all also am an and any are as at be because been before being both but by can could
did do does doing done each etc for from further had has have having he her here him his how i if
in into is it its itself just let may me might more most must my no nor not now of off on once one
only or other our out over own per same shall she should so some such than that the their them
then there these they this those through to too under until up upon us use used uses using very
via was we were what when where which while who whom why will with within without would yet you
your
"""
STOP = frozenset(_STOP.split())
"""Words that say nothing about the subject."""

_HAN_STOP = re.compile(
    "什么是|是什么|为什么|为何|什么|怎么样|怎么|怎样|如何|哪些|哪个|多少|有没有|是否|能否|可以|"
    "以及|或者|并且|因为|所以|如果|那么|这个|那个|一个|这些|那些|我们|你们|他们|它们|应该|"
    "进行|通过|对于|关于|时候|会怎|[的了吗呢吧是和与在及或把被将对从到于而且也就都很这那其此该请让给向则]"
)
_WORD = re.compile("[A-Za-z0-9_\u00c0-\u024f]+|[\u3400-\u9fff\u3040-\u30ff\uf900-\ufaff]+|[^\\W]+")
_VERSION = re.compile(r"(?<!\d)\d+(?:\.\d+)+")
_CAMEL = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_local = local()


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return the Porter2 stem of a lower-case English word."""
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:  # a Stemmer may not be shared by threads
        stemmer = _local.stemmer = Stemmer.Stemmer("english", 0)
    return str(stemmer.stemWord(word))


@lru_cache(maxsize=200_000)
def _latin(word: str) -> tuple[str, ...]:
    lower = word.lower()
    parts = [part.lower() for part in _CAMEL.findall(word)] if not word.isupper() else [lower]
    if "_" in word:
        parts = [part.lower() for piece in word.split("_") for part in _CAMEL.findall(piece)]
    if len(parts) <= 1:
        bare = lower.strip("_")
        return () if bare in STOP or not bare else (stem(bare),)
    kept = tuple(stem(part) for part in parts if part not in STOP and len(part) > 1)
    return (lower.strip("_"), *kept)


def _han(run: str) -> Iterable[str]:
    for piece in _HAN_STOP.split(run):
        if len(piece) == 1:
            yield piece
        for index in range(len(piece) - 1):
            yield piece[index : index + 2]


def tokens(text: str) -> list[str]:
    """Return the tokens of a text in order, repeats kept.

    An identifier gives itself and its parts (`on_commit` → `on_commit`, `commit`), a version
    itself whole; stop words give nothing.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    found: list[str] = []
    for match in _WORD.finditer(text):
        word = match[0]
        first = word[0]
        if first.isascii() or "\u00c0" <= first <= "\u024f":
            found.extend(_latin(word))
        elif first >= "\u3040":
            found.extend(_han(word))
        else:
            found.append(word.lower())
    if "." in text:
        found.extend(_VERSION.findall(text))
    return found


def content(text: str) -> frozenset[str]:
    """Return the set of a text's tokens."""
    return frozenset(tokens(text))
