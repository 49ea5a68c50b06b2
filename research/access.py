"""Who may watch, command and export. Asked at every subscribe and every command."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any
from uuid import UUID

from django.utils import timezone

from research.models import ApiToken, Run
from streaming.exceptions import NotFound
from streaming.principal import Principal

PREFIX = "snd_"


def may_watch(user_id: int, run_id: UUID) -> str | None:
    """Return the status of a run that this user may watch; None for any other."""
    return Run.objects.filter(pk=run_id, user_id=user_id).values_list("status", flat=True).first()


def visible_run(user: Any, run_id: UUID) -> Run:
    """Return a run that this user may see; `NotFound`, the same as for one that is not there."""
    run = Run.objects.visible_to(user).filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no such run.")
    return run


def new_token(user: Any, name: str = "") -> str:
    """Make an API token, keep its hash, and return it: it is never shown again."""
    token = PREFIX + secrets.token_urlsafe(32)
    ApiToken.objects.create(user=user, name=name, prefix=token[:8], hash=_hash(token))
    return token


def user_of_token(token: str) -> Principal | None:
    """Return the active user whose token this is, with what the token is good for."""
    row = ApiToken.objects.select_related("user").filter(hash=_hash(token)).first()
    if row is None or not row.user.is_active:
        return None
    ApiToken.objects.filter(pk=row.pk).update(last_used_at=timezone.now())
    return Principal(row.user.pk, row.user.get_username(), "token")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
