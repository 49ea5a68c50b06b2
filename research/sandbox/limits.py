"""What a call may use, and what is said when it wants more."""

from __future__ import annotations

from typing import Literal

from django.utils.translation import gettext_lazy as _
from msgspec import Struct

SandboxCode = Literal["too_slow", "too_large", "broken"]

MESSAGES = {
    "too_slow": _("It took too long, and was stopped."),
    "too_large": _("It is too large: it was stopped before it took all memory."),
    "broken": _("It broke off: there is something in it that cannot be handled."),
}
"""A sentence for a person, by its code."""


class Limits(Struct, frozen=True):
    """Of one call: seconds by the clock and of computing, bytes of memory and of the result."""

    wall_s: float = 30.0
    cpu_s: float = 20.0
    memory_bytes: int = 1 << 30
    result_bytes: int = 128 << 20


class SandboxError(Exception):
    """A call ended at a limit, or broke; `detail` is for the log."""

    def __init__(self, code: SandboxCode, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail

    @property
    def message(self) -> str:
        """Return what to tell a person, in the language of the moment."""
        return str(MESSAGES[self.code])

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()
