"""What every answer carries, whoever gives it."""

from __future__ import annotations

import json

import pytest
from django.http import Http404, HttpRequest, HttpResponse
from django.test import AsyncClient, Client, override_settings
from django.urls import include, path

SECRET = "postgres://ann:hunter2@db.example/x"


def break_down(request: HttpRequest) -> HttpResponse:
    raise RuntimeError(SECRET)


async def break_down_later(request: HttpRequest) -> HttpResponse:
    raise RuntimeError(SECRET)


def missing(request: HttpRequest) -> HttpResponse:
    raise Http404(SECRET)


urlpatterns = [
    path("break/", break_down),
    path("break-later/", break_down_later),
    path("api/break/", break_down),
    path("missing/", missing),
    path("", include("project.urls")),
]
handler500 = "project.errors.server_error"

pytestmark = [
    pytest.mark.urls(__name__),
    pytest.mark.filterwarnings("ignore:.*500:UserWarning"),
]


@pytest.fixture
def visitor() -> Client:
    return Client(raise_request_exception=False)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "where", ["/break/", "/missing/", "/nothing/", "/healthz", "/admin/login/"]
)
def test_every_page_brings_the_policy(visitor: Client, where: str) -> None:
    response = visitor.get(where)
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "same-origin"


async def test_an_asynchronous_page_brings_it_too(async_client: AsyncClient) -> None:
    assert "default-src 'self'" in (await async_client.get("/healthz"))["Content-Security-Policy"]


@pytest.mark.parametrize("where", ["/break/", "/break-later/"])
def test_an_error_of_ours_shows_an_id_and_nothing_else(
    visitor: Client, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    response = visitor.get(where)
    body = response.content.decode()
    logged = next(r.getMessage() for r in caplog.records if r.name == "project.errors")
    error_id = logged.split()[0].removeprefix("error_id=")
    assert response.status_code == 500
    assert error_id in body
    for hidden in (SECRET, "hunter2", "RuntimeError", "test_pages", "Traceback"):
        assert hidden not in body


def test_the_api_tells_an_error_as_json(visitor: Client) -> None:
    error = json.loads(visitor.get("/api/break/").content)["error"]
    assert error["code"] == "internal"
    assert error["error_id"] in error["message"]


@override_settings(SECURE_SSL_REDIRECT=True)
def test_probes_are_not_sent_to_https_but_people_are(visitor: Client) -> None:
    assert visitor.get("/healthz").status_code == 200
    assert visitor.get("/admin/").status_code == 301


def test_a_host_that_is_not_ours_is_refused(visitor: Client) -> None:
    assert visitor.get("/admin/", headers={"host": "evil.example"}).status_code == 400
