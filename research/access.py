"""Who may watch, command and export. Asked at every subscribe and every command."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.utils import timezone

from research.models import ApiToken, Run, Scope
from streaming.exceptions import NotFound
from streaming.principal import Principal

PREFIX = "snd_"
TOLD_BY = len(PREFIX) + 4  # characters of a token that are kept, to tell it by
USED = timedelta(minutes=1)
"""How exactly it is known when a token was last used: not each use is written down."""


# --- runs ----------------------------------------------------------------------------------------
def may_watch(user_id: int, run_id: UUID) -> str | None:
    """Return the status of a run that this user may watch; None for any other."""
    return Run.objects.filter(pk=run_id, user_id=user_id).values_list("status", flat=True).first()


def still_visible(views: Collection[tuple[int, UUID]]) -> set[tuple[int, UUID]]:
    """Return which of these users may still watch which of these runs, by one query."""
    runs = Run.objects.filter(pk__in={run_id for _, run_id in views})
    return set(runs.values_list("user_id", "pk")) & set(views)


def visible_run(user: Any, run_id: UUID) -> Run:
    """Return a run that this user may see; `NotFound`, the same as for one that is not there."""
    run = Run.objects.visible_to(user).filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no such run.")
    return run


# --- tokens --------------------------------------------------------------------------------------
def new_token(
    user: Any,
    name: str = "",
    scopes: Iterable[str] = tuple(Scope.values),
    lasts: timedelta | None = None,
) -> str:
    """Make an API token, keep its hash, and return it: it is never shown again."""
    token = PREFIX + secrets.token_urlsafe(36)  # more than 256 bits behind what it is told by
    ApiToken.objects.create(
        user=user,
        name=name,
        prefix=token[:TOLD_BY],
        hash=_hash(token),
        scopes=sorted(scopes),
        expires_at=timezone.now() + lasts if lasts else None,
    )
    return token


def user_of_token(token: str) -> Principal | None:
    """Return the active user whose token this is, with what the token is good for."""
    row = ApiToken.objects.valid().select_related("user").filter(hash=_hash(token)).first()
    if row is None:
        return None
    now = timezone.now()
    if row.last_used_at is None or row.last_used_at < now - USED:
        ApiToken.objects.filter(pk=row.pk).update(last_used_at=now)
    scopes = frozenset(row.scopes)
    return Principal(row.user.pk, row.user.get_username(), "token", scopes, key=str(row.pk))


def revoke(tokens: Any) -> int:
    """Revoke the tokens of a queryset, and return how many that were; their sockets end."""
    count: int = tokens.filter(revoked_at=None).update(revoked_at=timezone.now())
    return count


def still_in(principals: Collection[Principal]) -> set[Principal]:
    """Return those whose session or token has not ended, by one query of each kind."""
    keys = {via: {p.key for p in principals if p.via == via} for via in ("session", "token")}
    inside: set[Principal] = set()
    if keys["token"]:
        valid = ApiToken.objects.valid().filter(pk__in=keys["token"])
        alive = {str(pk) for pk in valid.values_list("pk", flat=True)}
        inside |= {p for p in principals if p.via == "token" and p.key in alive}
    if keys["session"]:
        now = timezone.now()
        sessions = Session.objects.filter(session_key__in=keys["session"], expire_date__gt=now)
        alive = set(sessions.values_list("session_key", flat=True))
        stamps = _stamps({p.user_id for p in principals if p.via == "session"})
        inside |= {
            p
            for p in principals
            if p.via == "session" and p.key in alive and stamps.get(p.user_id) == p.stamp
        }
    return inside


def _stamps(user_ids: set[int]) -> dict[int, str]:
    """Return what the sessions of active users are made with: it changes with the password."""
    users = get_user_model().objects.filter(pk__in=user_ids, is_active=True).only("password")
    return {user.pk: user.get_session_auth_hash() for user in users}


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
