"""The few words that the team itself puts into a report, in the report's language."""

from __future__ import annotations

WORDS = {
    "en": {
        "lead": "In short",
        "detail": "In more detail",
        "nothing": "No source was found that answers this question.",
        "unasked": " These did not answer when they were asked: {}.",
        "comma": ", ",
    },
    "zh": {
        "lead": "简要回答",
        "detail": "更多细节",
        "nothing": "没有找到能够回答这个问题的来源。",
        "unasked": "以下来源在询问时没有回应：{}。",
        "comma": "、",
    },
}


def word(name: str, language: str) -> str:
    """Return a word in a language; in English where the language is not known here."""
    return WORDS.get(language, WORDS["en"])[name]
