"""A safe name for a file, out of a title that somebody wrote."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

LONGEST = 80  # code points
MOST_BYTES = 180  # file systems have room for 255 bytes, extension and all
_FORBIDDEN = re.compile(r'[/\\:*?"<>|%\s]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)


def filename(title: str, extension: str) -> str:
    """Return a name that every system takes and that is no path: `What is it.pdf`."""
    kept = (sign for sign in unicodedata.normalize("NFC", title[:1000]) if _is_visible(sign))
    name = _FORBIDDEN.sub(" ", "".join(kept)).strip(" .-")
    if len(name) > LONGEST:  # cut between words, where there are any
        end = name.rfind(" ", LONGEST // 2, LONGEST + 1)
        name = name[: end if end > 0 else LONGEST]
    name = name.encode()[:MOST_BYTES].decode(errors="ignore").rstrip(" .")
    if not name or _RESERVED.fullmatch(name):
        name = f"report {name}".strip()
    return f"{name}.{extension}"


def disposition(name: str) -> str:
    """Return the header that names an attachment (RFC 6266), with a plain name for old clients."""
    fallback = name.encode("ascii", "ignore").decode().replace('"', "")
    stem, _, extension = fallback.rpartition(".")
    fallback = f"{' '.join(stem.split()) or 'report'}.{extension}"
    return f"attachment; filename=\"{fallback}\"; filename*=UTF-8''{quote(name, safe='')}"


def _is_visible(sign: str) -> bool:
    """Tell whether a sign is neither a control, nor a turn of direction, nor half a character."""
    return sign.isspace() or unicodedata.category(sign)[0] != "C"
