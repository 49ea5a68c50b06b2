"""Which of the two languages that the rules know a text is in."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["en", "zh"]

_HAN = re.compile("[\u3400-\u9fff]")
_WORD = re.compile("[A-Za-z]+")


def language(text: str) -> Language:
    """Return `zh` if the text has more Han characters than Latin words, else `en`."""
    return "zh" if len(_HAN.findall(text)) > len(_WORD.findall(text)) else "en"
