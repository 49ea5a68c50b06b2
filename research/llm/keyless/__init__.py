"""A model that needs no key and no network: it plans by rule and answers in quotes.

It is honest about what it is: every statement it writes is a sentence of a source, with its place.
"""

from research.llm.keyless.model import KeylessModel

__all__ = ["KeylessModel"]
