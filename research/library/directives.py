"""The directives of reStructuredText and its common extensions, by what a reader does with them."""

from __future__ import annotations

DROPPED = frozenset(
    [
        "code",
        "code-block",
        "sourcecode",
        "literalinclude",
        "include",
        "toctree",
        "image",
        "figure",
        "contents",
        "module",
        "currentmodule",
        "py:module",
        "py:currentmodule",
        "highlight",
        "index",
        "raw",
        "math",
        "graphviz",
        "digraph",
        "seealso",
        "console",
        "productionlist",
        "parsed-literal",
        "doctest",
        "testcode",
        "testoutput",
        "testsetup",
        "meta",
        "role",
        "default-role",
        "rst-class",
        "class-list",
        "autoclass",
        "automodule",
        "autofunction",
        "only-latex",
        "tabularcolumns",
        "sectionauthor",
        "codeauthor",
        "highlight",
        "snippet",
        "unicode",
        "replace",
        "date",
        "rubric-hidden",
    ]
)
"""Code, pictures, navigation and settings."""

ADMONITIONS = frozenset(
    ["note", "warning", "tip", "important", "caution", "danger", "hint", "attention", "error"]
)
"""Boxes that say something."""

SINCE = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}
"""Directives that carry a version, and the words for them."""

OPAQUE = frozenset(
    ["container", "rst", "compound", "topic", "sidebar", "epigraph", "only", "tab", "tabs"]
)
"""Wrappers of what stands in them."""
