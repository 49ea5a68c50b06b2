"""People in a run: who asks something of it joins the team, and speaks in their own name."""

from __future__ import annotations

from research.models import Member, Run
from streaming import vocabulary as v
from streaming.events import Voice
from streaming.members import Role

from .change import LEADER, Said

NAME_LENGTH = 64


def person(run: Run, by: str) -> tuple[Voice, list[Said]]:
    """Return the voice of a person, and that they join the team if they are new to it.

    Who is called as a member is gets another name here: each name is one voice.
    """
    name = by[:NAME_LENGTH]
    taken = Member.objects.filter(run=run, name=name).exclude(role=Role.HUMAN_AGENT)
    if taken.exists():
        name = f"{by[: NAME_LENGTH - 9]} (person)"
    _, is_new = Member.objects.get_or_create(
        run=run, name=name, defaults={"role": Role.HUMAN_AGENT}
    )
    joined = v.MemberJoined(name=name, role=Role.HUMAN_AGENT)
    return Voice(source_member=name, role=Role.HUMAN_AGENT), [(LEADER, joined)] if is_new else []
