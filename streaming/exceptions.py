"""What can go wrong here, and the stable code by which the wire tells it.

StreamingError
├── BadRequest            bad_request
│   └── BadCursor         bad_cursor
├── NotFound              not_found
├── Forbidden             forbidden_scope
├── Conflict              conflict (research adds not_running and others)
├── RateLimited           too_many
└── LogError              storage
    ├── StreamClosed      stream_closed
    ├── Fenced            fenced
    ├── EventTooLarge     event_too_large
    └── CommitUnknown     storage
"""


class StreamingError(Exception):
    """Something went wrong."""

    code = "error"
    retryable = False

    def __init__(self, message: str | None = None, *, code: str | None = None) -> None:
        super().__init__(message or self.__doc__ or "")
        if code:
            self.code = code

    @property
    def message(self) -> str:
        """Return the sentence for the person."""
        return str(self)


class BadRequest(StreamingError):
    """This is not a request that is understood here."""

    code = "bad_request"


class BadCursor(BadRequest):
    """This is not a cursor of this run."""

    code = "bad_cursor"


class NotFound(StreamingError):
    """There is no such run."""

    code = "not_found"


class Forbidden(StreamingError):
    """The token is not good for this."""

    code = "forbidden_scope"


class Conflict(StreamingError):
    """This cannot be done now."""

    code = "conflict"


class RateLimited(StreamingError):
    """Too many at once."""

    code = "too_many"
    retryable = True


class LogError(StreamingError):
    """The log could not be written."""

    code = "storage"


class StreamClosed(LogError):
    """Nothing can be written after the terminal event."""

    code = "stream_closed"


class Fenced(LogError):
    """Somebody else holds this work now."""

    code = "fenced"


class EventTooLarge(LogError):
    """The event is larger than an event may be."""

    code = "event_too_large"


class CommitUnknown(LogError):
    """The connection ended in the middle of a commit; the log tells what arrived."""
