"""The Settings page: tokens, password, language, and what the site uses; the same by command."""

from __future__ import annotations

import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from research.access import new_token, user_of_token
from research.models import ApiToken

pytestmark = pytest.mark.django_db
PASSWORD = "a-long-password"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password=PASSWORD)


@pytest.fixture
def page(ada: User, client: Client) -> Client:
    client.force_login(ada)
    return client


def text_of(response: Any) -> str:
    return str(response.content.decode())


def make(page: Client, **form: Any) -> Any:
    return page.post("/settings/tokens/", {"name": "laptop", "scopes": ["runs:read"]} | form)


def shown_token(response: Any) -> str:
    (token,) = re.findall(r"snd_[A-Za-z0-9_-]{40,}", text_of(response))
    return str(token)


# --- tokens --------------------------------------------------------------------------------------
def test_a_token_is_shown_once_and_opens_the_door(page: Client, ada: User) -> None:
    made = make(page, scopes=["runs:read", "notes"], days="30")
    assert made.status_code == 200
    assert "no-store" in made["Cache-Control"]
    token = shown_token(made)
    found = user_of_token(token)
    assert found
    assert found.user_id == ada.pk
    assert found.scopes == {"runs:read", "notes"}
    again = text_of(page.get("/settings/"))
    assert token not in again
    assert token[:8] in again and "laptop" in again and "notes, runs:read" in again
    row = ApiToken.objects.get()
    left = row.expires_at - timezone.now() if row.expires_at else None
    assert left and timedelta(days=29) < left <= timedelta(days=30)


def test_a_token_may_never_end(page: Client) -> None:
    make(page, days="")
    assert ApiToken.objects.get().expires_at is None
    assert "never ends" in text_of(page.get("/settings/"))


@pytest.mark.parametrize(
    "form",
    [
        {"scopes": []},
        {"scopes": ["admin"]},
        {"scopes": ["runs:read", "*"]},
        {"days": "100000"},
        {"days": "-1"},
        {"name": "x" * 81},
    ],
)
def test_a_token_that_cannot_be_is_not_made_and_the_page_says_why(
    page: Client, form: dict[str, Any]
) -> None:
    answer = make(page, **form)
    assert answer.status_code == 422
    assert 'role="alert"' in text_of(answer)
    assert not ApiToken.objects.exists()


def test_a_token_is_revoked_and_gone_from_the_page(page: Client, ada: User) -> None:
    token = new_token(ada, "old laptop")
    row = ApiToken.objects.get()
    answer = page.post(f"/settings/tokens/{row.pk}/revoke/", follow=True)
    assert "The token is revoked." in text_of(answer)
    assert "old laptop" not in text_of(answer)
    assert user_of_token(token) is None
    row.refresh_from_db()
    assert row.revoked_at is not None


def test_nobody_sees_or_revokes_anothers_token(page: Client) -> None:
    token = new_token(User.objects.create_user("eve"), "of eve")
    row = ApiToken.objects.get()
    assert page.post(f"/settings/tokens/{row.pk}/revoke/").status_code == 404
    assert user_of_token(token)
    assert "of eve" not in text_of(page.get("/settings/"))


def test_an_expired_token_is_told_as_one(page: Client, ada: User) -> None:
    new_token(ada)
    ApiToken.objects.update(expires_at=timezone.now())
    assert "expired" in text_of(page.get("/settings/"))


def test_a_name_is_only_a_name(page: Client) -> None:
    make(page, name="<script>alert(1)</script>")
    assert "<script>alert" not in text_of(page.get("/settings/"))


def test_a_reload_of_what_was_made_leads_to_the_page(page: Client) -> None:
    assert page.get("/settings/tokens/")["Location"] == "/settings/"


# --- the password --------------------------------------------------------------------------------
def test_a_changed_password_ends_every_other_session_and_keeps_this_one(
    page: Client, ada: User
) -> None:
    other = Client()
    other.force_login(ada)
    before = page.session.session_key
    form = {"old_password": PASSWORD, "new_password1": "correct horse", "new_password2": ""}
    wrong = page.post("/settings/password/", form)
    assert wrong.status_code == 200 and 'role="alert"' in text_of(wrong)
    form["new_password2"] = form["new_password1"]
    assert "The password is changed." in text_of(
        page.post("/settings/password/", form, follow=True)
    )
    assert page.get("/").status_code == 200
    assert page.session.session_key != before
    assert other.get("/").status_code == 302
    assert Client().login(username="ada", password="correct horse") is True


def test_a_weak_password_is_refused(page: Client) -> None:
    for weak in ("ada", "12345678901", "password"):
        form = {"old_password": PASSWORD, "new_password1": weak, "new_password2": weak}
        assert page.post("/settings/password/", form).status_code == 200
    assert Client().login(username="ada", password=PASSWORD) is True


# --- the language --------------------------------------------------------------------------------
@pytest.mark.parametrize("where", ["/signin/", "/", "/settings/", "/settings/password/"])
def test_the_language_is_chosen_on_every_page_and_kept(page: Client, where: str) -> None:
    client = Client() if where == "/signin/" else page
    shown = text_of(client.get(where))
    assert 'name="language" value="zh-hans"' in shown
    assert f'name="next" value="{where}"' in shown
    chosen = client.post("/language/", {"language": "zh-hans", "next": where})
    assert chosen["Location"] == where
    cookie = chosen.cookies["soundings_language"]
    assert (cookie.value, cookie["samesite"], cookie["httponly"]) == ("zh-hans", "Lax", True)
    assert '<html lang="zh-hans">' in text_of(client.get(where))


def test_a_language_that_is_not_there_changes_nothing(page: Client) -> None:
    page.post("/language/", {"language": "xx-<script>", "next": "/"})
    assert '<html lang="en">' in text_of(page.get("/"))


# --- what the site uses --------------------------------------------------------------------------
def test_the_page_names_what_the_site_uses_and_no_key(
    page: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    settings.RESEARCH_MODEL = "openai-chat:gpt-5"
    settings.RESEARCH_MODELS = {"leader": "", "writer": "scripted:/srv/secret/script"}
    settings.SEARCH_PROVIDERS = ["library", "arxiv"]
    shown = text_of(page.get("/settings/"))
    for word in ("openai-chat:gpt-5", "scripted", "library", "arxiv"):
        assert word in shown
    for word in ("sk-canary", "/srv/secret", settings.SECRET_KEY):
        assert word not in shown


# --- by command ----------------------------------------------------------------------------------
def command(*args: str) -> str:
    out = StringIO()
    call_command("api_token", *args, stdout=out)
    return out.getvalue()


def test_the_command_makes_lists_and_revokes(ada: User) -> None:
    token = command("ada", "--name", "cron", "--scope", "runs:read", "--expires", "7").strip()
    found = user_of_token(token)
    assert found and found.scopes == {"runs:read"}
    listed = command("ada", "--list")
    assert token[:8] in listed and "cron" in listed and token not in listed
    assert command("ada", "--revoke", token[:8])
    assert user_of_token(token) is None
    assert "revoked" in command("ada", "--list")


def test_a_token_of_the_command_is_good_for_everything_and_ends_unless_it_is_told_otherwise(
    ada: User,
) -> None:
    found = user_of_token(command("ada").strip())
    assert found and found.scopes == {"runs:read", "runs:write", "notes"}
    assert ApiToken.objects.get().expires_at is not None
    command("ada", "--expires", "never")
    assert ApiToken.objects.filter(expires_at=None).count() == 1


@pytest.mark.parametrize(
    "args",
    [
        ("nobody",),
        ("ada", "--expires", "soon"),
        ("ada", "--expires", "0"),
        ("ada", "--expires", "99999"),
        ("ada", "--scope", "root"),
        ("ada", "--revoke", "snd_none"),
    ],
)
def test_what_the_command_cannot_do_it_says(ada: User, args: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        command(*args)
    assert not ApiToken.objects.exists()


def test_a_token_of_another_user_is_not_revoked(ada: User) -> None:
    token = new_token(User.objects.create_user("eve"))
    with pytest.raises(CommandError):
        command("ada", "--revoke", token[:8])
    assert user_of_token(token)
