"""What every answer, every page of the admin and every way to start must be."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from research.models import ApiToken, Run
from tests.rig.server import KEPT, ROOT

from . import belongings
from .belongings import PASSWORD, SECRET, Address, Belongings, addresses

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann() -> Belongings:
    return belongings.of("ann")


def signed_in(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def staff(name: str = "sue", *permissions: str) -> Client:
    user = User.objects.create_user(name, password=PASSWORD, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return signed_in(user)


# --- the policy of every page --------------------------------------------------------------------
def strict(policy: str) -> dict[str, str]:
    """Return the directives of a policy that lets a page load nothing of others and run nothing."""
    found = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    assert found["default-src"] in ("'self'", "'none'")
    for name in ("object-src", "base-uri", "frame-ancestors"):
        assert found[name] == "'none'", name
    assert found["form-action"] in ("'self'", "'none'")
    assert not re.search(r"unsafe|\*|https?:|blob:", policy), policy
    for name in ("default-src", "script-src", "style-src"):
        assert "data:" not in found.get(name, "")
    return found


def assert_safe_to_show(response: Any, where: str) -> None:
    strict(response.headers["Content-Security-Policy"])
    assert response.headers["X-Content-Type-Options"] == "nosniff", where
    if not response.headers.get("Content-Type", "").startswith("text/html") or response.streaming:
        return
    if not response.content:
        return
    page = lxml.html.document_fromstring(response.content)
    for node in page.iter(lxml.etree.Element):
        if node.tag == "script":
            kind = node.get("type", "")
            assert node.get("src") or kind == "application/json", f"{where}: a script in the page"
        assert node.tag != "style", f"{where}: a style in the page"
        for name, value in node.attrib.items():
            assert not name.startswith("on"), f"{where}: {name}={value}"
            assert name != "style", f"{where}: style={value}"
            assert not value.strip().lower().startswith("javascript:"), f"{where}: {name}={value}"


@pytest.mark.parametrize("address", addresses(), ids=lambda address: address.name)
def test_every_page_runs_and_loads_only_what_this_server_sends_as_a_file(
    ann: Belongings, address: Address
) -> None:
    visitor = Client(raise_request_exception=False)
    for client in (signed_in(ann.user), visitor):
        for method in (client.get, client.post):
            response = method(address.path(ann.ids))
            assert_safe_to_show(response, address.path(ann.ids))


def test_a_refusal_is_as_strict_as_a_page(ann: Belongings) -> None:
    wary = Client(enforce_csrf_checks=True, raise_request_exception=False)
    refusals = [
        (wary.get("/nothing/"), 404),
        (wary.post("/signin/"), 403),
        (wary.get("/", headers={"host": "evil.example"}), 400),
        (signed_in(ann.user).get("/runs/x/"), 404),
        (staff("sue").get("/admin/research/run/"), 403),
    ]
    for response, status in refusals:
        assert response.status_code == status
        assert_safe_to_show(response, str(status))


# --- the admin -----------------------------------------------------------------------------------
def pages_of_the_admin() -> Iterator[tuple[str, type[Model] | None]]:
    """Return every page of the admin, by path, with the kind of row that it is about."""
    for name in ("index", "password_change", "app_list"):
        if name == "app_list":
            for app in ("research", "streaming", "auth"):
                yield reverse("admin:app_list", args=[app]), None
        else:
            yield reverse(f"admin:{name}"), None
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{name}_changelist"), model
        yield reverse(f"{name}_add"), model
        for row in model._default_manager.all()[:1]:
            for page in ("change", "delete", "history"):
                yield reverse(f"{name}_{page}", args=[row.pk]), model


def test_every_page_of_the_admin_is_as_strict_as_any_other(ann: Belongings) -> None:
    root = signed_in(User.objects.create_superuser("root", password=PASSWORD))
    seen = 0
    for path, _ in pages_of_the_admin():
        response = root.get(path)
        assert response.status_code in (200, 302, 403), path
        assert_safe_to_show(response, path)
        seen += response.status_code == 200
    assert seen > 40


def test_the_admin_is_shut_to_who_is_no_member_of_staff(ann: Belongings) -> None:
    for client in (signed_in(ann.user), Client()):
        for path, _ in pages_of_the_admin():
            for method in (client.get, client.post):
                response = method(path)
                assert response.status_code == 302, path
                assert response.headers["Location"].startswith("/admin/login/?next="), path


def test_a_member_of_staff_without_permission_reads_and_changes_nothing(ann: Belongings) -> None:
    client = staff()
    before = belongings.rows()
    for path, model in pages_of_the_admin():
        for method in (client.get, client.post):
            response = method(path)
            assert SECRET not in response.content.decode(), path
            assert model is None or response.status_code == 403, path
    assert belongings.rows() == before


def test_a_permission_to_see_one_kind_of_row_shows_no_other(ann: Belongings) -> None:
    client = staff("sue", "view_collection")
    assert client.get("/admin/research/collection/").status_code == 200
    for path, model in pages_of_the_admin():
        if model and model._meta.model_name != "collection":
            assert client.get(path).status_code == 403, path


def test_to_see_runs_is_not_to_see_them_as_their_user(ann: Belongings) -> None:
    """Staff read rows in the admin; the pages of a run are its user's alone."""
    client = staff("sue", *Permission.objects.values_list("codename", flat=True))
    assert client.get(reverse("admin:research_run_change", args=[ann.run.pk])).status_code == 200
    for address in addresses():
        if address.converters:
            response = client.get(address.path(ann.ids))
            assert response.status_code in (401, 404, 405), address


def test_no_secret_is_shown_in_the_admin_or_by_repr(ann: Belongings) -> None:
    root = signed_in(User.objects.create_superuser("root", password=PASSWORD))
    token = ApiToken.objects.get()
    secrets = [ann.token, token.hash, ann.user.password.rpartition("$")[2]]
    for path, _ in pages_of_the_admin():
        shown = root.get(path).content.decode()
        assert [secret for secret in secrets if secret in shown] == [], path
    told = f"{token!r} {token} {ann.user!r} {Run.objects.get()!r}"
    assert [secret for secret in secrets if secret in told] == []


# --- cookies and settings ------------------------------------------------------------------------
def test_the_cookies_are_for_this_site_and_not_for_scripts(ann: Belongings) -> None:
    client = Client()
    client.get("/signin/")
    client.post("/signin/", {"username": "ann", "password": PASSWORD})
    session = client.cookies["soundings_session"]
    assert (session["httponly"], session["samesite"]) == (True, "Lax")
    assert client.cookies["soundings_csrf"]["samesite"] == "Lax"


def manage(tmp_path: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", *args],
        cwd=ROOT, env=kept | {"DATA_DIR": str(tmp_path)} | env,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_a_site_with_an_address_of_its_own_passes_djangos_checks_for_deployment(
    tmp_path: Path,
) -> None:
    public = {"PUBLIC_URL": "https://research.example.org"}
    checked = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **public)
    assert checked.returncode == 0, checked.stderr
    names = ("SESSION", "CSRF", "LANGUAGE")
    code = "from django.conf import settings; print([" + ", ".join(
        f"settings.{name}_COOKIE_SECURE" for name in names
    ) + ", settings.SECURE_SSL_REDIRECT, settings.DEBUG])"  # fmt: skip
    told = manage(tmp_path, "shell", "--no-imports", "-v", "0", "-c", code, **public).stdout
    assert told.strip() == "[True, True, True, True, False]"
