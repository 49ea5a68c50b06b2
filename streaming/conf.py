"""The numbers and dotted paths of the stream, as `settings.STREAMING` gives them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed


@dataclass(frozen=True, slots=True)
class Conf:
    """Every setting of `STREAMING`, in lower case here; bytes, seconds and counts."""

    access: str = ""  # dotted path: who may watch a stream, asked at every subscribe
    authenticate: str = ""  # dotted path: whose token this is
    still_in: str = ""  # dotted path: which of these principals have not been signed out
    still_visible: str = ""  # dotted path: which of these (user, run) may still be watched
    fold: str = ""  # dotted path: what makes a state out of a log

    # The log
    event_bytes: int = 64 * 1024  # the largest event, as JSON
    merge_ms: int = 30  # how long a text delta waits for company; 0 turns it off
    fifo_events: int = 4096  # what may wait for the writer before speakers have to wait
    commit_events: int = 256  # the most events of one commit
    retry_s: float = 30.0  # how long a failed write that may pass is tried again
    drain_s: float = 5.0  # how long a stop waits for the writer

    # Following
    ring_events: int = 4096  # recent events that the hub keeps of each watched stream
    ring_bytes: int = 4 * 1024 * 1024
    tick_s: float = 2.0  # how often a follower looks without a bell
    bell_poll_ms: int = 100  # how often SQLite is asked whether another process wrote
    catchup_threads: int = 4
    frame_events: int = 64  # the most events of one frame
    frame_bytes: int = 48 * 1024
    quiet_frame_s: float = 1.0  # how often an empty frame tells a filtered follower where it is
    quiet_frame_events: int = 1000
    window_bytes: int = 1024 * 1024  # unacknowledged, per subscription with a window
    throttle_bytes_s: int = 256 * 1024  # for a subscription without one
    throttle_burst_bytes: int = 1024 * 1024
    slow_s: float = 30.0  # without progress for so long, a reader is closed with 4408

    # The websocket
    heartbeat_s: float = 20.0
    message_bytes: int = 64 * 1024  # the largest message of a client
    bad_frames: int = 5  # in a row, until a socket is closed with 4400
    command_queue: int = 64
    subscriptions: int = 32  # per socket
    sessions_s: float = 3.0  # how often the sessions and tokens of open sockets are asked for


@cache
def conf() -> Conf:
    """Return the settings in force; a name that does not exist is an error."""
    given: dict[str, Any] = {name.lower(): value for name, value in settings.STREAMING.items()}
    unknown = given.keys() - {field.name for field in fields(Conf)}
    if unknown:
        names = ", ".join(sorted(name.upper() for name in unknown))
        raise ImproperlyConfigured(f"STREAMING has no setting named {names}.")
    return Conf(**given)


def _forget(setting: str, **kwargs: Any) -> None:
    if setting == "STREAMING":
        conf.cache_clear()


setting_changed.connect(_forget, dispatch_uid="streaming.conf")
