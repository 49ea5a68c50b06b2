"""Files over HTTP: from the page, and for programs."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient, Client

from research import sandbox
from research.access import new_token, revoke
from research.export import FORMATS, export
from research.models import ApiToken, Run
from research.sandbox import SandboxError
from tests.research import recorded

pytestmark = pytest.mark.django_db
MAGIC = {"md": b"# How", "html": b"<!doc", "pdf": b"%PDF-", "docx": b"PK\x03\x04", "json": b'{"for'}


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def run(ada: User) -> Run:
    return recorded.record(ada)


@pytest.fixture
def page(ada: User, client: Client) -> Client:
    client.force_login(ada)
    return client


@pytest.fixture
def program(ada: User) -> Client:
    return Client(headers={"authorization": f"Bearer {new_token(ada, scopes=['runs:read'])}"})


def error_of(response: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(response.content)["error"]
    return found


@pytest.mark.parametrize("format", FORMATS)
def test_page_program_and_command_give_the_same_file(
    page: Client, program: Client, run: Run, format: str
) -> None:
    first = page.get(f"/runs/{run.pk}/export/{format}")
    second = program.get(f"/api/runs/{run.pk}/export/{format}")
    made = export(run.pk, format)
    assert first.status_code == second.status_code == 200
    assert first.content.startswith(MAGIC[format])
    if format == "docx":  # a zip says when it was packed
        assert len(first.content) == len(second.content) == len(made.data)
    else:
        assert first.content == second.content == made.data
    for response in (first, second):
        assert response["Content-Type"] == FORMATS[format].content_type
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Content-Security-Policy"].startswith("default-src 'none'; ")
        assert response["Content-Security-Policy"].endswith("; sandbox")
        assert "no-store" in response["Cache-Control"]
        name = "How does on_commit behave when a transaction is rolled back"
        assert response["Content-Disposition"].startswith(f'attachment; filename="{name}.{format}"')


@pytest.mark.parametrize("topic", ["../../x", "a\r\nSet-Cookie: y", "CON", "x" * 300, "\u202efdp"])
def test_no_title_breaks_the_header(page: Client, ada: User, topic: str) -> None:
    run = recorded.record(ada)
    Run.objects.filter(pk=run.pk).update(topic=topic)
    response = page.get(f"/runs/{run.pk}/export/md")
    assert response.status_code == 200
    assert "Set-Cookie" not in response.headers
    assert response["Content-Disposition"].startswith('attachment; filename="')
    assert "/" not in response["Content-Disposition"]


async def test_a_server_sends_a_log_piece_by_piece(transactional_db: None) -> None:
    ada = await User.objects.acreate(username="ada")
    run = await sync_to_async(recorded.record)(ada)
    client = AsyncClient()
    await client.aforce_login(ada)
    response: Any = await client.get(f"/runs/{run.pk}/export/json")
    assert response.streaming and response.is_async
    pieces = [piece async for piece in response.streaming_content]
    assert len(pieces) == 4
    assert len(json.loads(b"".join(pieces))["events"]) == len(recorded.whole())
    file = await client.get(f"/runs/{run.pk}/export/md")
    assert int(file["Content-Length"]) == len(await sync_to_async(export_of)(run))


def export_of(run: Run) -> bytes:
    return export(run.pk, "md").data


def test_an_unknown_format_is_not_found(page: Client, program: Client, run: Run) -> None:
    for format in ("exe", "PDF", "..", "pdf.exe"):
        assert page.get(f"/runs/{run.pk}/export/{format}").status_code == 404
        response = program.get(f"/api/runs/{run.pk}/export/{format}")
        assert response.status_code == 404
    assert error_of(program.get(f"/api/runs/{run.pk}/export/exe"))["code"] == "not_found"


def test_a_run_of_somebody_else_is_the_same_as_none(run: Run) -> None:
    eve = User.objects.create_user("eve")
    client = Client(headers={"authorization": f"Bearer {new_token(eve)}"})
    client.force_login(eve)
    for format in FORMATS:
        theirs = client.get(f"/api/runs/{run.pk}/export/{format}")
        none = client.get(f"/api/runs/{uuid4()}/export/{format}")
        assert (theirs.status_code, theirs.content) == (none.status_code, none.content)
        assert (theirs.status_code, error_of(theirs)["code"]) == (404, "not_found")
        assert client.get(f"/runs/{run.pk}/export/{format}").status_code == 404


def test_a_session_opens_nothing_for_programs(page: Client, run: Run) -> None:
    response = page.get(f"/api/runs/{run.pk}/export/md")
    assert (response.status_code, error_of(response)["code"]) == (401, "unauthorized")
    assert response["WWW-Authenticate"] == "Bearer"


def test_only_a_valid_token_with_the_right_scope_opens_the_door(ada: User, run: Run) -> None:
    good = new_token(ada, scopes=["runs:read"])
    gone = new_token(ada, "gone")
    revoke(ApiToken.objects.filter(name="gone"))
    address = f"/api/runs/{run.pk}/export/md"
    for header in ("", "Bearer", "Bearer ", f"Basic {good}", f"Bearer x{good}", f"Bearer {gone}"):
        response = Client(headers={"authorization": header}).get(address)
        assert (response.status_code, error_of(response)["code"]) == (401, "unauthorized"), header
    assert Client().get(f"{address}?token={good}").status_code == 401
    notes = Client(headers={"authorization": f"Bearer {new_token(ada, scopes=['notes'])}"})
    response = notes.get(address)
    assert (response.status_code, error_of(response)["code"]) == (403, "forbidden_scope")
    assert Client(headers={"authorization": f"bearer {good}"}).get(address).status_code == 200


def test_what_a_program_may_not_do_is_told_as_json(program: Client, run: Run) -> None:
    response = program.post(f"/api/runs/{run.pk}/export/md")
    assert (response.status_code, error_of(response)["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize(
    ("code", "status"), [("too_large", 413), ("too_slow", 503), ("broken", 503)]
)
def test_a_report_that_is_too_much_is_refused_in_a_sentence_with_a_code(
    page: Client, program: Client, run: Run, code: Any, status: int, monkeypatch: Any
) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise SandboxError(code, "a secret path")

    monkeypatch.setattr(sandbox, "call", refuse)
    shown = page.get(f"/runs/{run.pk}/export/pdf")
    told = program.get(f"/api/runs/{run.pk}/export/pdf")
    assert shown.status_code == told.status_code == status
    assert code in shown.content.decode() and f"/runs/{run.pk}/export/md" in shown.content.decode()
    assert error_of(told)["code"] == code
    assert "secret" not in shown.content.decode() + told.content.decode()


def test_the_page_of_a_run_offers_every_format(page: Client, run: Run) -> None:
    shown = page.get(f"/runs/{run.pk}/").content.decode()
    for format in FORMATS:
        assert f'href="/runs/{run.pk}/export/{format}"' in shown
