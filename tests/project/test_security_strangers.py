"""What is another's is not there. Made from the URL conf: an address that is added is tested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from . import belongings
from .belongings import MASS, SECRET, Address, Belongings, addresses

pytestmark = pytest.mark.django_db

UNSAFE = ("post", "put", "patch", "delete")
METHODS = ("get", "head", "options", *UNSAFE)
every_address = pytest.mark.parametrize("address", addresses(), ids=lambda address: address.name)
every_address_of_something = pytest.mark.parametrize(
    "address",
    [address for address in addresses() if address.converters],
    ids=lambda address: address.name,
)


@pytest.fixture
def ann() -> Belongings:
    return belongings.of("ann")


@pytest.fixture
def bob(ann: Belongings) -> Belongings:
    return belongings.of("bob")


def by_session(who: Belongings) -> Client:
    client = Client()
    client.force_login(who.user)
    return client


def by_token(who: Belongings) -> Client:
    return Client(headers={"authorization": f"Bearer {who.token}"})


def ask(client: Client, method: str, path: str, **options: Any) -> Any:
    given: dict[str, Any] = {} if method in ("get", "head", "options") else {"data": dict(MASS)}
    if method in ("put", "patch", "delete"):
        given["content_type"] = "application/json"
    return getattr(client, method)(path, **given, **options)


def seen(response: Any) -> tuple[Any, ...]:
    """Return everything of an answer that its reader could compare."""
    body = response.getvalue() if response.streaming else response.content
    headers = {name.lower(): value for name, value in response.headers.items()}
    headers.pop("expires", None)  # the time of the answer
    return response.status_code, sorted(headers.items()), body


@every_address_of_something
def test_what_is_ones_own_is_there(ann: Belongings, address: Address) -> None:
    """Else the tests below would compare nothing with nothing."""
    answers = [ask(door(ann), "get", address.path(ann.ids)) for door in (by_session, by_token)]
    assert any(
        answer.status_code not in (401, 404, 500)
        and not answer.headers.get("Location", "").startswith("/signin/")
        for answer in answers
    ), address


@every_address_of_something
@pytest.mark.parametrize("door", [by_session, by_token])
def test_what_is_anothers_answers_as_what_is_not_there(
    ann: Belongings, bob: Belongings, address: Address, door: Callable[[Belongings], Client]
) -> None:
    client, before = door(bob), belongings.rows()
    for method in METHODS:
        theirs, none = (
            seen(ask(client, method, address.path(ids))) for ids in (ann.ids, ann.elsewhere())
        )
        assert SECRET.encode() not in theirs[2], (method, address)
        if theirs[0] == 302 and door is by_token:  # a page leads to the sign-in, and back
            assert theirs[0] == none[0], (method, address)
        else:
            assert theirs == none, (method, address)
            assert theirs[0] in (401, 404, 405) or method == "options", (method, address)
    assert belongings.rows() == before


@every_address
def test_no_page_shows_what_is_anothers_whoever_asks(ann: Belongings, address: Address) -> None:
    mallory = User.objects.create_user("mallory")
    stranger, visitor = Client(), Client()
    stranger.force_login(mallory)
    words = [SECRET, str(ann.run.pk), ann.token]
    for client in (stranger, visitor):
        for query in ("", f"?q={SECRET}", f"?run={ann.run.pk}", f"?collection={SECRET}"):
            response = client.get(address.path(ann.ids) + query)
            shown = seen(response)[2].decode()
            asked = query.partition("=")[2]
            found = [word for word in words if word in shown.replace(asked or "\0", "")]
            assert found == [], (address, query)


@every_address
def test_what_changes_something_is_refused_without_the_token_of_a_form(
    ann: Belongings, address: Address
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(ann.user)
    before = belongings.rows()
    for method in UNSAFE:
        response = ask(client, method, address.path(ann.ids))
        assert response.status_code in (401, 403, 405), (method, address)
    assert belongings.rows() == before


@every_address
def test_asking_changes_nothing(ann: Belongings, address: Address) -> None:
    client = by_session(ann)
    before = belongings.rows()
    for method in ("get", "head", "options"):
        status = ask(client, method, address.path(ann.ids)).status_code
        assert status < 500 or address.name == "readyz"  # there is no engine here
    assert belongings.rows() == before


@every_address
def test_a_form_takes_only_its_own_fields(
    ann: Belongings, bob: Belongings, address: Address
) -> None:
    """Bob sends Ann's id as the owner of whatever he makes, and himself as an administrator."""
    pk = str(ann.user.pk)
    mass = MASS | dict.fromkeys(("user", "user_id", "owner", "owner_id", "id", "pk"), pk)
    useful = {"topic": "What?", "key": "k", "name": "x", "scopes": "runs:read", "title": "x"}
    before = [User.objects.get(pk=who.user.pk) for who in (ann, bob)]
    counts = [_belongings_of(who) for who in (ann, bob)]
    by_session(bob).post(address.path(bob.ids), mass | useful)
    for user, who in zip(before, (ann, bob), strict=True):
        now = User.objects.get(pk=who.user.pk)
        for field in ("is_staff", "is_superuser", "is_active", "username", "password"):
            assert getattr(now, field) == getattr(user, field), (field, address)
    assert _belongings_of(ann) == counts[0], address
    for run in bob.user.runs.exclude(pk=bob.run.pk):
        assert run.status in ("queued", "running")
    for token in bob.user.api_tokens.exclude(pk=bob.ids["token_id"]):
        assert (token.hash != "0" * 64, token.prefix != "snd_") == (True, True)


def _belongings_of(who: Belongings) -> list[Any]:
    related = ("runs", "api_tokens", "collections", "commands")
    return [sorted(getattr(who.user, name).values_list("pk", flat=True)) for name in related]
