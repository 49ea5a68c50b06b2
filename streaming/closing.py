"""How a socket ends: the codes, and the reasons that are raised until the edge closes it."""

from __future__ import annotations


class CloseCode:
    """What a socket is closed with."""

    MALFORMED = 4400
    NOT_LOGGED_IN = 4401
    FORBIDDEN = 4403
    NO_SUBPROTOCOL = 4406
    SLOW = 4408
    RESTARTING = 4412
    SESSION_ENDED = 4419
    TOO_MANY = 4429


COME_BACK = {CloseCode.SLOW, CloseCode.RESTARTING, CloseCode.TOO_MANY}


class Closed(Exception):
    """The socket is to be closed, after an error frame that says why."""

    def __init__(self, close_code: int, code: str, message: str) -> None:
        super().__init__(message)
        self.close_code, self.code, self.message = close_code, code, message


class Disconnected(Exception):
    """The client is gone."""
