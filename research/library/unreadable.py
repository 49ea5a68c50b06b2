"""Why a file was left out."""


class Unreadable(Exception):
    """The file cannot be read as a document; the message says why, for a person."""
