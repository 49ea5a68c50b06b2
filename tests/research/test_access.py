"""Who may watch, and whose token it is."""

from __future__ import annotations

import hashlib
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from research.access import may_watch, new_token, user_of_token, visible_run
from research.models import ApiToken
from streaming.exceptions import NotFound
from streaming.principal import Principal

from .conftest import Steps

pytestmark = [pytest.mark.django_db]


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


def test_of_a_token_only_the_hash_is_kept(user: User) -> None:
    token = new_token(user, "laptop")
    row = ApiToken.objects.get()
    assert row.hash == hashlib.sha256(token.encode()).hexdigest()
    kept = f"{row.name} {row.prefix} {row.hash}"
    assert token not in kept
    assert token.startswith(row.prefix) and len(row.prefix) < len(token) / 4


def test_a_token_is_its_users_as_long_as_they_are_active(user: User, rival: User) -> None:
    mine, theirs = new_token(user), new_token(rival)
    assert user_of_token(mine) == Principal(user.pk, "ann", "token")
    assert user_of_token(theirs) == Principal(rival.pk, "bob", "token")
    assert ApiToken.objects.get(user=user).last_used_at is not None
    user.is_active = False
    user.save()
    assert user_of_token(mine) is None
    ApiToken.objects.filter(user=rival).delete()
    assert user_of_token(theirs) is None


@pytest.mark.parametrize("token", ["", "snd_", "snd_x", "x" * 10_000, "\0", "\ud800", "字"])
def test_what_is_no_token_is_nobodys(user: User, token: str) -> None:
    new_token(user)
    assert user_of_token(token) is None
