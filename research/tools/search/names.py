"""The names of the search providers, as settings and people use them."""

NAMES = ("library", "duckduckgo", "wikipedia", "arxiv")
LOCAL = frozenset({"library"})
"""Those that ask nobody on the network."""
LABELS = {
    "library": "Library",
    "duckduckgo": "DuckDuckGo",
    "wikipedia": "Wikipedia",
    "arxiv": "arXiv",
}
"""What they call themselves."""
