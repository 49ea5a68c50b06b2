"""Cleaning text before it is stored: what JSON, Postgres or a browser would refuse."""

from __future__ import annotations

import math
from typing import Any


def clean(text: str) -> str:
    """Return the text without NUL and lone surrogates (as U+FFFD)."""
    if text.isascii():
        return text if "\0" not in text else text.replace("\0", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd") if "\0" in text else text


def size(text: str) -> int:
    """Return how many bytes a text is on the wire."""
    return len(text) if text.isascii() else len(text.encode())


def clean_json(value: Any) -> Any:
    """Return a JSON value with every string in it cleaned and no NaN or infinity."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): clean_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
