"""Whatever stands in an address or in a field of a form: an answer, and never an error of ours."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from tests.project import belongings
from tests.project.belongings import Belongings, addresses

pytestmark = [pytest.mark.django_db, pytest.mark.both]

VALUES = ("a\0b", "9" * 5000, "-1", str(2**63), "²", "\ufffe\ud800", "\r\nX: y", "%", "𝕏" * 300)
SKIPPED = ("/readyz", "/language/", "/signout/")  # not ready without an engine; a way out
NAMES = ("q", "run", "kind", "tag", "page", "again", "topic", "collection", "part", "start", "end",
         "group", "next")  # fmt: skip
FIELDS = ("topic", "collection", "sources", "researchers", "key", "text", "to", "name", "scopes",
          "days", "run", "title", "content", "note_type", "tags", "seen", "document", "sure",
          "path", "username", "password", "language", "next")  # fmt: skip


@pytest.fixture
def ann(settings: Any, tmp_path: Any) -> Belongings:
    settings.DATA_DIR = tmp_path
    return belongings.of("ann", is_staff=True, is_superuser=True)


@pytest.fixture
def page(ann: Belongings) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(ann.user)
    return client


def said(value: str) -> str:
    return quote(value, safe="", errors="surrogatepass")


@pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:12])
def test_no_value_in_an_address_breaks_a_page(page: Client, ann: Belongings, value: str) -> None:
    for address in addresses():
        path = address.path(ann.ids)
        if path in SKIPPED:
            continue
        answer = page.get(path + "?" + "&".join(f"{name}={said(value)}" for name in NAMES))
        assert answer.status_code < 500, path
        for name in NAMES:  # one that is refused may hide another
            if path.endswith("/") and path.count("/") < 5:
                answer = page.get(f"{path}?{name}={said(value)}")
                assert answer.status_code < 500, (path, name)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:12])
def test_no_value_in_a_path_breaks_a_page(page: Client, ann: Belongings, value: str) -> None:
    base = reverse("run", args=[ann.run.pk])
    places = [base + "tools/{}/", base + "blobs/{}", base + "export/{}", base + "tasks/{}/",
              base + "sources/{}/", "/notes/{}/", "/library/{}/", "/library/1/documents/{}/",
              "/settings/tokens/{}/revoke/", "/runs/{}/", "/api/runs/{}/export/md",
              f"/api{base}export/{{}}"]  # fmt: skip
    for place in places:
        answer = page.get(
            place.format(said(value)), headers={"Authorization": f"Bearer {ann.token}"}
        )
        assert answer.status_code < 500, place


@pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:12])
def test_no_value_in_a_form_breaks_a_page(page: Client, ann: Belongings, value: str) -> None:
    value = value.encode(errors="replace").decode()  # a browser sends no half of a pair
    for address in addresses():
        path = address.path(ann.ids)
        if "delete" in path or path in SKIPPED:
            continue
        for fields in (dict.fromkeys(FIELDS, value), _almost(ann, value)):
            answer = page.post(path, fields)
            assert answer.status_code < 500, (path, sorted(fields))
        page.force_login(ann.user)
    upload = reverse("upload", args=[ann.ids["collection_id"]])
    file = SimpleUploadedFile("a.txt", b"Something.")
    assert page.post(upload, {"files": file, "path": f"{value}.txt"}).status_code < 500


def _almost(ann: Belongings, value: str) -> dict[str, Any]:
    """Return what forms take, but for the fields that take anything."""
    good = {"run": str(ann.run.pk), "title": "t", "content": "c", "topic": "t", "text": "t"}
    return good | {"key": value, "to": value, "tags": value, "note_type": value, "seen": value}


@pytest.mark.parametrize("value", ("a\0b", str(2**63), "\r\nX: y"), ids=ascii)
def test_no_value_breaks_a_list_of_the_admin(page: Client, value: str) -> None:
    for model in admin.site._registry:
        there = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for asked in (f"?q={said(value)}", f"?p={said(value)}", f"{said(value)}/change/"):
            assert page.get(there + asked).status_code < 500, (there, asked)
