"""What the tests of the sandbox let run in it."""

from __future__ import annotations

import time


def sleep(seconds: float) -> None:
    time.sleep(seconds)
