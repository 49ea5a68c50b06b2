"""Who guesses passwords waits, at both doors; and nobody learns who has an account."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth import aauthenticate
from django.contrib.auth.models import User
from django.core import serializers
from django.db import connections
from django.http import HttpRequest
from django.test import Client

from research import signin
from research.models import SignInTries
from research.signin import TRIES, WAIT

from .belongings import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.both]
DOORS = pytest.mark.parametrize("door", ["/signin/", "/admin/login/"])


@pytest.fixture(autouse=True)
def ann(db: None) -> User:
    return User.objects.create_user("ann", password=PASSWORD, is_staff=True)


def knock(
    door: str,
    name: str = "ann",
    password: str = "wrong",
    address: str = "192.0.2.1",
    **headers: str,
) -> Any:
    data = {"username": name, "password": password}
    return Client().post(door, data, REMOTE_ADDR=address, headers=headers)


def time_passes(by: timedelta) -> None:
    for row in SignInTries.objects.all():
        SignInTries.objects.filter(pk=row.pk).update(since=row.since - by)


@DOORS
def test_after_ten_wrong_passwords_the_right_one_has_to_wait(door: str) -> None:
    for _ in range(TRIES - 1):
        assert knock(door).status_code == 200
    for password in ("wrong", PASSWORD, "wrong"):
        refused = knock(door, password=password)
        assert refused.status_code == 429
        assert refused.headers["Retry-After"] == "300"
        assert "Too many tries" in refused.content.decode()
        assert "soundings_session" not in refused.cookies
    time_passes(WAIT)
    assert knock(door, password=PASSWORD).status_code == 302


@DOORS
def test_the_wait_begins_with_the_last_try_and_is_not_made_longer_by_others(door: str) -> None:
    for _ in range(TRIES - 1):
        knock(door)
    time_passes(WAIT - timedelta(seconds=10))
    knock(door)
    time_passes(WAIT / 2)
    assert knock(door, password=PASSWORD).status_code == 429
    time_passes(WAIT / 2)
    assert knock(door, password=PASSWORD).status_code == 302


def test_both_doors_count_together() -> None:
    for number in range(TRIES):
        knock(("/signin/", "/admin/login/")[number % 2])
    assert {knock(door).status_code for door in ("/signin/", "/admin/login/")} == {429}


def test_a_right_password_clears_the_count() -> None:
    for _ in range(3):
        for _ in range(TRIES - 1):
            knock("/signin/")
        assert knock("/signin/", password=PASSWORD).status_code == 302
    assert SignInTries.objects.count() == 0


def test_nobody_is_locked_out_from_where_they_did_not_try() -> None:
    for _ in range(TRIES):
        knock("/signin/")
    assert knock("/signin/", password=PASSWORD).status_code == 429
    assert knock("/signin/", password=PASSWORD, address="192.0.2.2").status_code == 302
    User.objects.create_user("bob", password=PASSWORD)
    assert knock("/signin/", "bob", PASSWORD).status_code == 302


@pytest.mark.parametrize("header", ["x-forwarded-for", "x-real-ip", "forwarded", "client-ip"])
def test_a_header_of_the_senders_own_does_not_clear_the_count(header: str) -> None:
    for number in range(TRIES):
        knock("/signin/", **{header: f"198.51.100.{number}"})
    assert knock("/signin/", password=PASSWORD, **{header: "203.0.113.9"}).status_code == 429


def test_another_address_of_the_same_household_does_not_clear_it_either() -> None:
    for number in range(TRIES):
        knock("/signin/", address=f"2001:db8:1:2::{number + 1:x}")
    assert knock("/signin/", address="2001:db8:1:2:ffff::1").status_code == 429
    assert knock("/signin/", password=PASSWORD, address="2001:db8:1:3::1").status_code == 302


@DOORS
def test_a_name_that_nobody_has_is_answered_as_one_that_somebody_has(door: str) -> None:
    User.objects.create_user("idle", password=PASSWORD, is_active=False)
    said: list[list[tuple[int, str]]] = []
    for name in ("ann", "nobody", "idle"):
        answers = [knock(door, name) for _ in range(TRIES + 1)]
        said.append([(answer.status_code, _told(answer, name)) for answer in answers])
    assert said[0] == said[1] == said[2]


def _told(answer: Any, name: str) -> str:
    text = str(answer.content.decode())
    assert 'role="alert"' in text
    return text.partition('role="alert"')[2].partition("</p>")[0].replace(name, "NAME")


def test_neither_name_nor_address_can_be_read_from_the_count() -> None:
    knock("/signin/", "some.body", address="192.0.2.77")
    dump = serializers.serialize("json", SignInTries.objects.all())
    assert SignInTries.objects.count() == 1
    assert "some.body" not in dump and "192.0.2.77" not in dump


def test_what_is_over_is_forgotten() -> None:
    for number in range(20):
        knock("/signin/", f"name{number}")
    time_passes(WAIT)
    knock("/signin/")
    assert SignInTries.objects.count() == 1


@pytest.mark.parametrize("name", ["", "\0", "字" * 5000, "a\nb"])
def test_a_strange_name_is_only_a_wrong_one(name: str) -> None:
    assert knock("/signin/", name).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_many_at_once_have_no_more_tries_than_one_after_the_other() -> None:
    request = HttpRequest()
    request.META["REMOTE_ADDR"] = "192.0.2.1"

    def take(_: int) -> bool:
        try:
            return signin._take(signin._key(request, "ann"))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(3 * TRIES))) == TRIES


def test_the_asynchronous_way_in_counts_too() -> None:
    request = HttpRequest()
    request.META["REMOTE_ADDR"] = "192.0.2.1"
    ask = async_to_sync(aauthenticate)
    for _ in range(TRIES - 1):
        assert ask(request, username="ann", password="wrong") is None
    assert ask(request, username="ann", password=PASSWORD)
    for _ in range(TRIES):
        ask(request, username="ann", password="wrong")
    assert ask(request, username="ann", password=PASSWORD) is None


@DOORS
@pytest.mark.parametrize(
    "target", ["//evil.test", "/\\evil.test", "https://evil.test/", "javascript:x", "///evil.test"]
)
def test_signing_in_leads_to_this_site_alone(door: str, target: str) -> None:
    data = {"username": "ann", "password": PASSWORD, "next": target}
    location = Client().post(door, data).headers["Location"]
    assert location in ("/", "/admin/")
    client = Client()
    client.force_login(User.objects.get())
    shown = client.get("/signin/", {"next": target})  # who is in already is led on
    assert shown.headers["Location"] == "/"
    chosen = client.post("/language/", {"language": "zh-hans", "next": target})
    assert chosen.headers["Location"] == "/"
    out = client.post("/signout/", {"next": target})
    assert out.headers["Location"] == "/signin/"


def test_who_is_no_member_of_staff_is_asked_at_the_admins_door_and_not_sent_round() -> None:
    bob = User.objects.create_user("bob", password=PASSWORD)
    client = Client()
    client.force_login(bob)
    assert client.get("/admin/").headers["Location"] == "/admin/login/?next=/admin/"
    assert client.get("/admin/login/?next=/admin/").status_code == 200
    data = {"username": "bob", "password": PASSWORD}
    assert client.post("/admin/login/", data).status_code == 200
    assert (
        client.post("/admin/login/", {"username": "ann", "password": PASSWORD}).status_code == 302
    )
