"""Principal: who asks, how they came in, and what they may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .exceptions import Forbidden

SCOPES = frozenset({"runs:read", "runs:write", "notes"})
"""What a token can be good for. A session has all of it."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A user who came in by a session or by a token."""

    user_id: int
    username: str
    via: Literal["session", "token"]
    scopes: frozenset[str] = SCOPES
    key: str = ""
    """By what the session or token is found again while a socket is open."""
    stamp: str = ""
    """What a session was made with: it changes with the password."""

    def require(self, scope: str) -> None:
        """Raise `Forbidden` unless this may be asked for."""
        if scope not in self.scopes:
            raise Forbidden(f"This token is not good for {scope}.")
