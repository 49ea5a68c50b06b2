"""What of an HTML page is not its text."""

from __future__ import annotations

from lxml import etree

_SKIPPED = frozenset(
    [
        "script",
        "style",
        "nav",
        "aside",
        "form",
        "button",
        "select",
        "option",
        "noscript",
        "svg",
        "math",
        "template",
        "iframe",
        "object",
        "embed",
        "canvas",
        "pre",
        "textarea",
        "head",
        "footer",
        "audio",
        "video",
        "map",
    ]
)
_FURNITURE = frozenset(
    [
        "nav",
        "navbar",
        "navheader",
        "navfooter",
        "navigation",
        "toc",
        "toctree-wrapper",
        "sidebar",
        "sphinxsidebar",
        "breadcrumb",
        "breadcrumbs",
        "related",
        "footer",
        "menu",
        "cookie",
        "skip-link",
        "headerlink",
        "footnotes",
        "indexterm",
        "noprint",
        "screen",
        "programlisting",
        "synopsis",
        "literallayout",
        "highlight",
        "list-of-tables",
        "list-of-figures",
        "table-of-contents",
        "site-header",
        "site-footer",
    ]
)
_ADMONITIONS = frozenset(
    ["note", "tip", "warning", "caution", "important", "danger", "hint", "attention", "admonition"]
)
_ROLES = frozenset(
    ["navigation", "banner", "contentinfo", "search", "menu", "menubar", "complementary"]
)


def is_furniture(element: etree._Element) -> bool:
    """Tell whether an element is not of the text: navigation, a listing, a form, what is hidden."""
    tag = element.tag
    if not isinstance(tag, str) or tag in _SKIPPED:
        return True
    if tag in ("body", "html", "main", "article"):
        return False
    if tag == "header":
        return element.find(".//h1") is None
    get = element.get
    if get("hidden") is not None or get("aria-hidden") == "true" or get("role") in _ROLES:
        return True
    return not _FURNITURE.isdisjoint(classes(element)) or (get("id") or "") in _FURNITURE


def classes(element: etree._Element) -> list[str]:
    """Return the classes of an element, in small letters."""
    return (element.get("class") or "").lower().split()


def in_admonition(element: etree._Element) -> bool:
    """Tell whether a heading only says "Note" or "Warning"."""
    for _ in range(3):
        parent = element.getparent()
        if parent is None:
            return False
        if not _ADMONITIONS.isdisjoint(classes(parent)):
            return True
        element = parent
    return False
