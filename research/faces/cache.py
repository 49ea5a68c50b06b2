"""A bounded memory of what was rendered, shared by all who watch in this process."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable


class Cache:
    """Texts by key; what was not asked for longest goes when `size` characters are passed."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held = 0
        self._texts: OrderedDict[Hashable, str] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> str | None:
        """Return the text, if it is still here."""
        with self._lock:
            if key in self._texts:
                self._texts.move_to_end(key)
            return self._texts.get(key)

    def put(self, key: Hashable, text: str) -> None:
        """Keep a text; one that is larger than a quarter of the room is not kept."""
        if len(text) * 4 > self._size:
            return
        with self._lock:
            old = self._texts.pop(key, "")
            self._texts[key] = text
            self._held += len(text) - len(old)
            while self._held > self._size:
                _, gone = self._texts.popitem(last=False)
                self._held -= len(gone)
