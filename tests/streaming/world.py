"""A small application on the stream, in place of research: who may watch, and a fold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from streaming.principal import Principal

HIDDEN: set[tuple[int, UUID]] = set()
"""Which user may not see which run; all others may."""

TOKENS: dict[str, Principal] = {}
"""Whose token it is."""

OUT: set[str] = set()
"""The keys of sessions and tokens that have ended."""


@dataclass(frozen=True)
class Seen:
    """A fold that keeps everything, so that a test can compare it."""

    seq: int
    texts: tuple[str, ...]


def may_watch(user_id: int, run_id: UUID) -> str | None:
    from streaming.models import Stream

    if (user_id, run_id) in HIDDEN or not Stream.objects.filter(pk=run_id).exists():
        return None
    return "running"


def user_of_token(token: str) -> Principal | None:
    return TOKENS.get(token)


def still_in(principals: Collection[Principal]) -> set[Principal]:
    return {principal for principal in principals if principal.key not in OUT}


def still_visible(views: Collection[tuple[int, UUID]]) -> set[tuple[int, UUID]]:
    return {view for view in views if view not in HIDDEN}


def fold(state: Seen | None, texts: Sequence[str]) -> Seen:
    before = state.texts if state else ()
    after = (*before, *texts)
    return Seen(len(after), after)
