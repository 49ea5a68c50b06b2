"""Which facets each kind of question has, and their words in each language."""

from __future__ import annotations

from collections.abc import Mapping

from research.llm.keyless.facet import Facet, Words
from research.llm.keyless.facets_en import ENGLISH
from research.llm.keyless.facets_zh import CHINESE
from research.text.language import Language

__all__ = ["ORDER", "WORDS", "Facet", "Words", "facet_of_intent"]

ORDER: Mapping[str, tuple[Facet, ...]] = {
    "compare": ("compare", "when", "limits"),
    "limits": ("limits", "how"),
    "number": ("number", "limits"),
    "list": ("list", "def"),
    "why": ("why", "how"),
    "when": ("when", "limits"),
    "howto": ("howto", "limits"),
    "how": ("how", "def", "limits"),
    "def": ("def", "how", "limits"),
    "yesno": ("yesno", "limits"),
    "topic": ("def", "how", "limits"),
}
"""The facets of each kind of question, its own first."""

WORDS: Mapping[Language, Mapping[Facet, Words]] = {"en": ENGLISH, "zh": CHINESE}


def facet_of_intent(intent: str) -> Facet | None:
    """Return the facet whose intent a task carries, None if it is somebody's own words."""
    for words in WORDS.values():
        for facet, its in words.items():
            if its.intent == intent.strip():
                return facet
    return None
