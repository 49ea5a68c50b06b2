"""Signing in: who guesses passwords is made to wait.

Each try is counted before the password is looked at, so that many at once are no more than many
one after the other, and a right password clears the count. It is counted by name and address
together: nobody can lock another out from elsewhere. A name that does not exist is treated alike.
The count is in the database, which all processes share.
"""

from __future__ import annotations

import ipaddress
from datetime import timedelta
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import PermissionDenied
from django.db.models import Case, F, When
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from research.models import SignInTries

TRIES = 10
WAIT = timedelta(minutes=5)


class SignInBackend(ModelBackend):
    """Django's own way to find a user by name and password, for who has tries left."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return the user; raise `PermissionDenied` where there were too many tries."""
        if request is None or username is None:  # nobody at a door
            return super().authenticate(request, username, password, **kwargs)
        if not _take(key := _key(request, username)):
            raise PermissionDenied
        user = super().authenticate(request, username, password, **kwargs)
        if user is not None:
            SignInTries.objects.filter(pk=key).delete()
        return user

    async def aauthenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Do the same."""
        return await sync_to_async(self.authenticate)(request, username, password, **kwargs)


def used_up(request: HttpRequest, name: str) -> bool:
    """Tell whether there are no tries left for this name from where the request comes from."""
    tries = SignInTries.objects.filter(pk=_key(request, name), since__gt=timezone.now() - WAIT)
    return tries.filter(count__gte=TRIES).exists()


def _take(key: str) -> bool:
    """Use a try, if there is one left; the last one begins the wait."""
    now = timezone.now()
    SignInTries.objects.filter(since__lte=now - WAIT).delete()
    SignInTries.objects.get_or_create(pk=key, defaults={"since": now})
    left = SignInTries.objects.filter(pk=key, count__lt=TRIES)
    since = Case(When(count=TRIES - 1, then=now), default=F("since"))
    return bool(left.update(count=F("count") + 1, since=since))


def _key(request: HttpRequest, name: str) -> str:
    """Return what the tries are counted by. Neither name nor address can be read from it.

    The address is the one that the server gives: a header such as X-Forwarded-For is whatever its
    sender likes, unless the server itself has been told which proxy to believe.
    """
    address = request.META.get("REMOTE_ADDR") or ""
    try:
        network = ipaddress.ip_network(address)
        if network.version == 6:  # a household has 2⁶⁴ addresses
            network = network.supernet(new_prefix=64)
        address = str(network)
    except ValueError:
        pass  # a Unix socket has none
    return salted_hmac("research.signin", f"{name}\0{address}", algorithm="sha256").hexdigest()
