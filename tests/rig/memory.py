"""How much more memory this process took at most, while something was done."""

from __future__ import annotations

import gc
import os
import threading
from typing import Self

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> int:
    """Return the bytes of memory that this process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


class Growth:
    """Looks every few milliseconds; `bytes` is the most beyond the beginning."""

    bytes: int = 0

    def __enter__(self) -> Self:
        gc.collect()
        self._start = resident()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.003):
            self.bytes = max(self.bytes, resident() - self._start)
