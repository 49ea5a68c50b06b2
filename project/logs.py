"""Log lines: one a record, whatever a stranger wrote into it."""

import logging
import re
import time

LONGEST = 8000
# C0 and C1 controls, line separators, and the marks that turn the direction of writing round.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class OneLine(logging.Formatter):
    """Write a record, with its traceback if it has one, on one line without control characters."""

    converter = staticmethod(time.gmtime)
    default_msec_format = "%s.%03dZ"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with what is not printable written as an escape."""
        text = super().format(record)
        if len(text) > LONGEST:
            # What went wrong stands at the end of a traceback, and who says so at its begin.
            cut = f"… ({len(text)} characters) …"
            text = text[: LONGEST // 4] + cut + text[-(LONGEST - LONGEST // 4) :]
        return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
