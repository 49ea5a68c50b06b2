"""Text as it may be stored: no NUL, no lone surrogate, one kind of line end."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufeff\ufffe\uffff]")
_BREAKS = re.compile("\r\n|[\r\x85\u2028\u2029]")
_BLANKS = re.compile(r"[ \t\u00a0\u3000\n]+")


def clean_text(text: str) -> str:
    """Return the text with `\\n` line ends and without what a database cannot hold."""
    return _UNSTORABLE.sub("", _BREAKS.sub("\n", text))


def is_cjk(char: str) -> bool:
    """Tell whether a character is written without spaces around words (Han, kana)."""
    return (
        "\u3400" <= char <= "\u9fff" or "\u3040" <= char <= "\u30ff" or "\uf900" <= char <= "\ufaff"
    )


def _wide(char: str) -> bool:
    return is_cjk(char) or "\u3000" <= char <= "\u303f" or "\uff00" <= char <= "\uffef"


def unwrap(text: str) -> str:
    """Join wrapped lines and runs of blanks into one line.

    No space is put between two lines that meet in Chinese or Japanese characters.
    """

    def join(match: re.Match[str]) -> str:
        if "\n" not in match[0]:
            return " "
        before, after = match.start() - 1, match.end()
        if before >= 0 and after < len(text) and _wide(text[before]) and _wide(text[after]):
            return ""
        return " "

    return _BLANKS.sub(join, text.strip())
