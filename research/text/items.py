"""How list items stand in the text of a document that was read."""

from __future__ import annotations

import re

ITEM = re.compile(r"\n\n?- ")
"""What stands between a block and the item after it."""

ITEM_GAPS = (3, 4)
"""How many characters that takes."""
