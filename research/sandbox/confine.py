"""Give up what a call must not have: memory without end, time without end, files, the network."""

from __future__ import annotations

import ctypes
import math
import resource
import sys
from contextlib import suppress

from .limits import Limits

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9


def keeper() -> None:
    """Confine this process and all that it will fork."""
    for what in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):
        resource.setrlimit(what, (0, 0))
    if not sys.platform.startswith("linux"):
        return
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("900")  # when the machine runs out of memory, the server is to stay
    libc = ctypes.CDLL(None, use_errno=True)
    # Without rights for it, limits and the guard of the web are what there is.
    if libc.unshare(_NEW_NET) != 0:
        libc.unshare(_NEW_USER | _NEW_NET)


def to(limits: Limits) -> None:
    """Hold this process to the limits of a call."""
    seconds = max(1, math.ceil(limits.cpu_s))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_DATA, (limits.memory_bytes, limits.memory_bytes))
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
