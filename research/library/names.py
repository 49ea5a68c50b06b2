"""What a document may be called: any language, but nothing that leads out, hides or runs on."""

from __future__ import annotations

import hashlib
import unicodedata

from research.library.unreadable import Unreadable

MAX_NAME = 200
MAX_PATH = 500
_MAX_SUFFIX = 12
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Controls, marks that turn the direction of writing, and what is no character."""
_KEPT = "\u200c\u200d"
"""Joiners, which some languages and emoji are written with."""


def visible(name: str) -> str:
    """Return a name on one line, without what cannot be seen in it."""
    kept = "".join(
        " " if char.isspace() else char
        for char in unicodedata.normalize("NFC", name)
        if char.isspace() or char in _KEPT or unicodedata.category(char) not in _HIDDEN
    )
    return " ".join(kept.split())


def safe_path(name: str) -> str:
    """Return the path of an upload below its folder, as it is kept and shown.

    Raises Unreadable if nothing is left of it.
    """
    parts = []
    for part in name.replace("\\", "/").split("/"):
        shown = visible(part)
        if shown.strip(". ") and not (len(shown) == 2 and shown[1] == ":"):
            parts.append(_short(shown, MAX_NAME))
    path = "/".join(parts)
    if len(path) > MAX_PATH:
        path = f"{_mark(path)}/{parts[-1]}"
    if not any(map(str.isalnum, path)):
        raise Unreadable("bad_name")
    return path


def suffix_of(path: str) -> str:
    """Return the suffix of a file's name in small letters, with its dot, or nothing."""
    stem, dot, suffix = path.rsplit("/", 1)[-1].rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""


def _short(name: str, limit: int) -> str:
    """Return a name that is not too long; two long ones stay two, and each keeps its suffix."""
    if len(name) <= limit:
        return name
    suffix = suffix_of(name)
    suffix = name[-len(suffix) :] if 0 < len(suffix) <= _MAX_SUFFIX else ""
    return f"{name[: limit - len(suffix) - 9]}~{_mark(name)}{suffix}"


def _mark(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
