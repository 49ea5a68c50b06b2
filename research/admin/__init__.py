"""The admin: for reading. What the log tells of is changed by actions alone."""

from . import accounts, evidence, library, runs, stream  # noqa: F401  they register on import
