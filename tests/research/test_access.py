"""Who may watch, and whose token it is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core import serializers
from django.test import Client
from django.utils import timezone

from research.access import (
    may_watch,
    new_token,
    revoke,
    still_in,
    still_visible,
    user_of_token,
    visible_run,
)
from research.models import ApiToken, Scope
from streaming.exceptions import Forbidden, NotFound
from streaming.principal import SCOPES, Principal

from .conftest import Steps

pytestmark = [pytest.mark.django_db, pytest.mark.both]


def test_a_run_is_watched_by_who_started_it_and_nobody_else(
    steps: Steps, user: User, rival: User
) -> None:
    admin = User.objects.create_superuser("root")
    assert may_watch(user.pk, steps.id) == "running"
    for stranger in (rival, admin):
        assert may_watch(stranger.pk, steps.id) is None
    assert may_watch(user.pk, uuid4()) is None
    assert may_watch(0, steps.id) is None


def test_a_run_that_one_may_not_see_is_as_one_that_is_not_there(
    steps: Steps, user: User, rival: User
) -> None:
    assert visible_run(user, steps.id) == steps.run
    said = []
    for who, run_id in ((rival, steps.id), (user, uuid4())):
        with pytest.raises(NotFound) as refused:
            visible_run(who, run_id)
        said.append((refused.value.code, refused.value.message))
    assert said[0] == said[1]


# --- tokens --------------------------------------------------------------------------------------
def test_of_a_token_only_the_hash_is_kept_and_no_copy_of_the_database_opens_a_door(
    user: User,
) -> None:
    token = new_token(user, "laptop")
    row = ApiToken.objects.get()
    assert row.hash == hashlib.sha256(token.encode()).hexdigest()
    assert token.startswith(row.prefix) and len(row.prefix) == 8
    assert len(token) - len(row.prefix) >= 43  # 256 bits, six a letter
    dump = serializers.serialize("json", [*ApiToken.objects.all(), user])
    words = re.findall(r"[A-Za-z0-9_-]{8,}", dump)
    assert row.hash in words
    assert token[len(row.prefix) :] not in dump
    assert [word for word in words if user_of_token(word)] == []


def test_no_two_tokens_are_alike(user: User) -> None:
    assert len({new_token(user) for _ in range(50)}) == 50


def test_a_token_is_its_users_as_long_as_they_are_active(user: User, rival: User) -> None:
    mine, theirs = new_token(user), new_token(rival)
    for token, who in ((mine, user), (theirs, rival)):
        found = user_of_token(token)
        assert found
        assert (found.user_id, found.username, found.via) == (who.pk, who.username, "token")
    user.is_active = False
    user.save()
    assert user_of_token(mine) is None
    ApiToken.objects.filter(user=rival).delete()
    assert user_of_token(theirs) is None


def test_a_token_is_good_for_its_scopes_and_nothing_else(user: User) -> None:
    found = user_of_token(new_token(user, scopes=["runs:read"]))
    assert found
    assert found.scopes == {"runs:read"}
    found.require("runs:read")
    for scope in ("runs:write", "notes", ""):
        with pytest.raises(Forbidden) as refused:
            found.require(scope)
        assert refused.value.code == "forbidden_scope"


def test_the_scopes_are_those_that_the_stream_knows() -> None:
    assert set(Scope.values) == SCOPES


def test_a_token_ends_at_its_time_and_not_before(user: User) -> None:
    token = new_token(user, lasts=timedelta(days=1))
    assert user_of_token(token)
    ApiToken.objects.update(expires_at=timezone.now() + timedelta(seconds=30))
    assert user_of_token(token)
    ApiToken.objects.update(expires_at=timezone.now())
    assert user_of_token(token) is None


def test_a_revoked_token_opens_nothing_and_is_revoked_once(user: User) -> None:
    token = new_token(user)
    assert revoke(user.api_tokens) == 1
    assert user_of_token(token) is None
    when = ApiToken.objects.get().revoked_at
    assert revoke(user.api_tokens) == 0
    assert ApiToken.objects.get().revoked_at == when


def test_when_a_token_was_used_is_written_down_once_a_minute_at_most(
    user: User, django_assert_num_queries: Any
) -> None:
    token = new_token(user)
    assert ApiToken.objects.get().last_used_at is None
    with django_assert_num_queries(2):
        user_of_token(token)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    with django_assert_num_queries(1):
        user_of_token(token)
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(seconds=61))
    user_of_token(token)
    later = ApiToken.objects.get().last_used_at
    assert later is not None and later >= first


@pytest.mark.parametrize("token", ["", "snd_", "snd_x", "x" * 10_000, "\0", "\ud800", "字"])
def test_what_is_no_token_is_nobodys(user: User, token: str) -> None:
    new_token(user)
    assert user_of_token(token) is None


# --- who is still in -----------------------------------------------------------------------------
def by_session(user: User, client: Client) -> Principal:
    """Sign in, and return who is in."""
    client.force_login(user)
    key = client.session.session_key
    assert key
    stamp = user.get_session_auth_hash()
    return Principal(user.pk, user.username, "session", key=key, stamp=stamp)


def by_token(user: User, **options: Any) -> Principal:
    found = user_of_token(new_token(user, **options))
    assert found
    return found


def sign_out(client: Client) -> None:
    client.post("/signout/")


def let_the_session_expire(client: Client) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


def flush_all_sessions(client: Client) -> None:
    Session.objects.all().delete()


def change_the_password(client: Client) -> None:
    """As an administrator does, or on another machine."""
    ann = User.objects.get(username="ann")
    ann.set_password("another long one")
    ann.save()


def deactivate(client: Client) -> None:
    User.objects.filter(username="ann").update(is_active=False)


def delete_the_user(client: Client) -> None:
    User.objects.filter(username="ann").delete()


def somebody_else_signs_in(client: Client) -> None:
    """In the same browser."""
    client.force_login(User.objects.get(username="bob"))


@pytest.mark.parametrize(
    "end",
    [
        sign_out,
        let_the_session_expire,
        flush_all_sessions,
        change_the_password,
        deactivate,
        delete_the_user,
        somebody_else_signs_in,
    ],
)
def test_who_came_by_a_session_is_in_until_it_ends(
    user: User, rival: User, client: Client, end: Callable[[Client], None]
) -> None:
    principal = by_session(user, client)
    assert still_in([principal]) == {principal}
    end(client)
    assert still_in([principal]) == set()


def expire(tokens: Any) -> None:
    tokens.update(expires_at=timezone.now())


def delete(tokens: Any) -> None:
    tokens.all().delete()


def deactivate_its_user(tokens: Any) -> None:
    User.objects.filter(username="ann").update(is_active=False)


@pytest.mark.parametrize("end", [revoke, expire, delete, deactivate_its_user])
def test_who_came_by_a_token_is_in_until_it_ends(user: User, rival: User, end: Any) -> None:
    principal, other = by_token(user), by_token(rival)
    assert still_in([principal, other]) == {principal, other}
    end(user.api_tokens)
    assert still_in([principal, other]) == {other}


def test_a_session_of_one_is_not_the_session_of_another(
    user: User, rival: User, client: Client
) -> None:
    principal = by_session(user, client)
    forged = replace(principal, user_id=rival.pk)
    assert still_in([forged]) == set()
    assert still_in([replace(by_token(user), via="session")]) == set()


def test_how_many_are_in_costs_no_query_more(
    user: User, rival: User, django_assert_num_queries: Any
) -> None:
    many = [by_session(who, Client()) for who in (user, rival) for _ in range(20)]
    many += [by_token(who) for who in (user, rival) for _ in range(20)]
    with django_assert_num_queries(3):
        assert still_in(many) == set(many)
    with django_assert_num_queries(0):
        assert still_in([]) == set()


def test_a_run_is_visible_as_long_as_it_is_there_and_ones_own(
    steps: Steps, user: User, rival: User, django_assert_num_queries: Any
) -> None:
    views = {(user.pk, steps.id), (rival.pk, steps.id), (user.pk, uuid4())}
    with django_assert_num_queries(1):
        assert still_visible(views) == {(user.pk, steps.id)}
    steps.run.user = rival
    steps.run.save()
    assert still_visible(views) == {(rival.pk, steps.id)}
    steps.run.stream.delete()
    assert still_visible(views) == set()
