"""Sandbox: functions that read what strangers made run in a process of their own, within limits.

A keeper process has the code loaded; for each call it makes a fresh copy of itself, which has no
network, no secrets and no database, and is gone after it. So no call can harm the next one.
"""

from .calls import acall, call
from .limits import Limits, SandboxError

__all__ = ["Limits", "SandboxError", "acall", "call"]
