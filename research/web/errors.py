"""Why a page could not be had."""

from __future__ import annotations

from typing import Literal

WebCode = Literal[
    "bad_url",  # no address of a page: another one may do
    "blocked_address",  # not to be read from here
    "unreachable",  # no such name, no connection, no trust
    "too_slow",
    "too_large",
    "redirect",  # from page to page, to none
    "bad_status",
    "site_busy",  # asks to be left alone for a while
    "bad_answer",  # not what HTTP says
    "unsupported",  # pictures, sound, archives
]


class WebError(Exception):
    """A page could not be had; `message` is a sentence, `status` what the site answered with.

    `code` is a `WebCode`, or one of `research.library.unreadable` for what has no text to read.
    """

    def __init__(self, code: str, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
