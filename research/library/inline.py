"""reStructuredText's inline marks, taken out so that only what a reader sees is left."""

from __future__ import annotations

import re

_INLINE = re.compile(
    r"(?P<literal>``(?P<code>[^`]+(?:`[^`]+){0,4})``)"
    r"|:(?P<role>[a-zA-Z][\w:.+-]{0,40}):`(?P<target>[^`]+)`"
    r"|(?P<phrase>`(?P<words>[^`]+)`_{0,2})"
    r"|\*\*(?P<strong>[^*\n]+)\*\*"
    r"|(?<![\w*])\*(?P<emphasis>[^*\s][^*\n]{0,200})\*(?![\w*])"
    r"|\[(?:#?\w{0,40}|\*)\]_"
    r"|(?<![\w`.\-])(?P<word>[A-Za-z][A-Za-z0-9.]*(?:[-_][A-Za-z0-9.]+)*)_{1,2}(?=[\s.,;:)!?'\"]|$)"
    r"|\|(?P<substitution>[A-Za-z][\w -]{0,40})\|"
    r"|\\(?P<escaped>.)"
)
_EXPLICIT = re.compile(r"([^<]*)<[^>]*>\s*\Z")
_CALLABLE = ("func", "meth")
_NUMBERED = {"pep": "PEP ", "rfc": "RFC ", "ticket": "#", "cve": "CVE-"}
_PLACES = ("doc", "ref", "numref")
_DROPPED = ("index", "raw", "fa")


def _titled(body: str) -> tuple[str, bool]:
    match = _EXPLICIT.match(body)
    if match and match[1].strip():
        return match[1].strip(), True
    return body.strip(), False


def _role(name: str, body: str) -> str:
    kind = name.rsplit(":", 1)[-1]
    if kind in _DROPPED:
        return ""
    text, titled = _titled(body)
    if titled:
        return text
    text = text.strip("<>").lstrip("!")
    if kind in _NUMBERED:
        return _NUMBERED[kind] + text.split("#")[0]
    if kind in _PLACES:
        return re.sub(r"[-_/]+", " ", text.rsplit("/index", 1)[0].rsplit("/", 1)[-1]).strip()
    if text.startswith(("~", ".")):
        text = text.lstrip("~.").rsplit(".", 1)[-1] if text.startswith("~") else text.lstrip(".")
    if kind in _CALLABLE and not text.endswith(")"):
        text += "()"
    return text


def _replace(match: re.Match[str]) -> str:
    if match["code"]:
        return match["code"].replace("\\ ", "")
    if match["role"]:
        return _role(match["role"], match["target"])
    if match["words"]:
        return _titled(match["words"])[0]
    for name in ("strong", "emphasis", "word", "substitution"):
        if match[name]:
            return match[name]
    if match["escaped"]:
        return "" if match["escaped"].isspace() else match["escaped"]
    return ""


def plain(text: str) -> str:
    """Return the text of a paragraph without roles, references, literals and emphasis marks."""
    return _INLINE.sub(_replace, text)
