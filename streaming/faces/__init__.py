"""Wire formats."""

from . import native  # noqa: F401  registers itself
from .base import FACES, Face, Filter, Frame, View, register

__all__ = ["FACES", "Face", "Filter", "Frame", "View", "register"]
