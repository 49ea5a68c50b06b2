"""Who said it: members, their roles, and the rules for tagging what passes through."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a member is to its team (the seven values of the team protocol)."""

    LEADER = "leader"
    TEAMMATE = "teammate"
    HUMAN_AGENT = "human_agent"
    PASSIVE_HUMAN = "passive_human"
    BRIDGE_AGENT = "bridge_agent"
    WORKER = "worker"
    EXTERNAL_CLI = "external_cli"


@dataclass(frozen=True, slots=True)
class Member:
    """A name that speaks, in a role."""

    name: str
    role: Role
