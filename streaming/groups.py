"""Names of channel groups, and the doorbell that rings in them.

A bell says only which run has news and where its head is: a lost one costs latency, never data.
A run's own group is for hubs; the groups of its lanes and members serve other consumers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any
from uuid import UUID


def run_group(stream_id: UUID) -> str:
    """Return the group of everyone who follows a run."""
    return f"run.{stream_id.hex}"


def token_group(stream_id: UUID, stream_token: str) -> str:
    """Return the group of a lane of a run."""
    return f"lane.{stream_id.hex}.{_short(stream_token)}"


def member_group(stream_id: UUID, source_member: str) -> str:
    """Return the group of a member of a run."""
    return f"member.{stream_id.hex}.{_short(source_member)}"


def groups_of(stream_id: UUID, lanes: Iterable[str], members: Iterable[str]) -> list[str]:
    """Return every group in which news of these lanes and members rings."""
    return [
        run_group(stream_id),
        *(token_group(stream_id, lane) for lane in lanes if lane),
        *(member_group(stream_id, member) for member in members if member),
    ]


def bell(stream_id: UUID, head: int) -> dict[str, Any]:
    """Return the message of the doorbell."""
    return {"type": "stream.bell", "run": str(stream_id), "head": head}


def _short(name: str) -> str:
    """Return a name that a group may hold: group names are ASCII and under 100 characters."""
    return hashlib.sha256(name.encode()).hexdigest()[:20]
