"""Bytes to text: what the file declares, else UTF-8, else the legacy encoding that fits best."""

from __future__ import annotations

import codecs
import re

from research.library.unreadable import Unreadable
from research.text.clean import clean_text

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"""(?:charset|encoding)\s{0,4}[=:]\s{0,4}["']?([A-Za-z0-9_.:-]{2,40})""")
_WIDER = {  # as browsers read them: what is called by the narrower name often uses more
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "x-big5": "big5hkscs",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "sjis": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-9": "cp1254",
}
_LEGACY = ("gb18030", "big5hkscs", "cp932", "euc-jp", "cp949", "cp1252")
_ANYTHING = frozenset(("cp1252", "iso8859-1", "ascii"))
"""What nearly every file can be read as: servers that say so often do not know."""
_COMMON = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过"
    "发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本"
    "這個們來為國說時會對於過發後裡種經麼學現當沒動還進點說與無從開問關東車見長門"
    "のにはをたがでてとしれさあるいものするからなこと"
    "이다는에의을가고를은하지로서도한기사어인대자리수시해그나정일아들부라있"
)
_SAID = 0.15
_HEAD = 4096
_TRIAL = 200_000


def _declared(data: bytes) -> str | None:
    match = _DECLARED.search(data[:_HEAD])
    return _known(match[1].decode("ascii")) if match else None


def _known(name: str) -> str | None:
    """Return the encoding that a name means, None for one that nobody knows."""
    name = name.strip().lower()
    try:
        return codecs.lookup(_WIDER.get(name, name)).name
    except (LookupError, ValueError):
        return None


def _strict(data: bytes, encoding: str) -> str | None:
    """Return the decoded text, or None if a byte does not fit. A cut character at the end may."""
    try:
        decoder = codecs.getincrementaldecoder(encoding)("strict")
        return str(decoder.decode(data, final=False))
    except (UnicodeDecodeError, LookupError, TypeError):
        return None


def _fit(text: str) -> float:
    """Return how much a text looks like one that people write."""
    wide = [char for char in text if char > "\x7f"]
    if not wide:
        return 1.0
    common = sum(char in _COMMON for char in wide)
    odd = sum("\ue000" <= char <= "\uf8ff" or "\uff61" <= char <= "\uff9f" for char in wide)
    latin = sum("\xc0" <= char <= "\xff" for char in wide)
    return (common + 0.1 * latin - odd) / len(wide)


def decode(data: bytes, charset: str | None = None) -> str:
    """Return the cleaned text of a file; `charset` is what was said of it by who sent it.

    Raises Unreadable for an empty or a binary file.
    """
    if not data.strip():
        raise Unreadable("empty")
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return clean_text(data[len(bom) :].decode(encoding, "replace"))
    said = _known(charset) if charset else None
    if said is not None and said.startswith(("utf-16", "utf-32")):
        return clean_text(data.decode(said, "replace"))
    if b"\x00" in data[:65_536]:
        raise Unreadable("binary")
    controls = sum(byte < 9 or 13 < byte < 27 for byte in data[:_HEAD])
    if controls * 50 > len(data[:_HEAD]):
        raise Unreadable("binary")
    declared = _declared(data)
    likely = None if said in _ANYTHING else said
    for name in (likely, declared, "utf-8"):
        if name is None or name.startswith(("utf-16", "utf-32")):
            continue
        text = _strict(data, name)
        if text is not None:
            return clean_text(text)
    trial = data[:_TRIAL]
    fits = [
        (_fit(text) + (_SAID if encoding == said else 0.0), encoding)
        for encoding in _LEGACY
        if (text := _strict(trial, encoding)) is not None
    ]
    # One bad byte in an otherwise good UTF-8 file must not turn it into mojibake.
    replaced = trial.decode("utf-8", "replace")
    if not fits or replaced.count("\ufffd") * 200 < len(replaced):
        return clean_text(data.decode("utf-8", "replace"))
    return clean_text(data.decode(max(fits)[1], "replace"))
