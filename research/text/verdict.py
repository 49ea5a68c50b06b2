"""Verdict: whether a source says what a sentence claims (to be extended: only exact quotes)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found out, why, and which part of the source it rests on."""

    verdict: Literal["supported", "partly", "not_found"]
    reason: str
    start: int | None = None
    end: int | None = None


def classify(claim: str, source_text: str, start: int | None, end: int | None) -> Verdict:
    """Hold a claim against the text of its source."""
    at = source_text.find(claim.strip("\"'“”‘’` "), start or 0)
    if at < 0:
        return Verdict("not_found", "unsupported", start, end)
    return Verdict("supported", "quote", at, at + len(claim.strip("\"'“”‘’` ")))
