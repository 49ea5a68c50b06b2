"""With 简体中文 no English is left on any page, and with English no Chinese."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.urls import get_resolver, reverse
from django.utils import translation
from lxml import html as lxml_html

from project.errors import server_error
from research.errors import CODES, LOGGED
from research.models import Archive, Collection, Document, Note, Run, Source
from streaming import vocabulary as v
from streaming.events import DATA
from streaming.models import Blob
from tests.research import recorded
from tests.research.admin_rows import KINDS, list_of, page_of, with_rows
from tests.research.recorded import LEADER, Said

pytestmark = pytest.mark.django_db

SAME = {
    # names
    "Soundings", "Markdown", "PDF", "DOCX", "Word", "JSON", "HTML", "API", "URL", "UTC", "SHA",
    "UTF", "reStructuredText", "arXiv", "English", "Ctrl", "Enter",
    # what programs are told by
    "runs:read", "runs:write", "notes", "task", "leader", "researcher", "writer", "verifier",
    "guest", "ada", "root", "library", "fetch", "duckduckgo", "wikipedia", "keyless", "scripted",
    "start", "search", "note", "True", "False", *CODES, *DATA,
    *(name.partition(".")[0] for name in DATA),
}  # fmt: skip
"""Words that are the same in every language."""
FILES = ("export", "blob", "notes-markdown", "document-text")
TOLD = ("title", "placeholder", "aria-label", "alt", "label", "content", "value")
UNSAID = (
    "//script|//style|//code|//pre|//time|//*[@lang and not(self::html)]|//td[@class='field-data']"
)
LATIN = re.compile(r"[A-Za-z][A-Za-z_:']{2,}")
CHINESE = re.compile(r"[\u3400-\u9fff]")
ADDRESS = re.compile(
    r"https?://\S+|\S+\.(?:example|test)\b|[\w.]+@|\b[0-9a-f-]{8,}\b|S\d+|snd_\w+|\b[a-z]+\.[a-z_]+\b"
)
OWN = {"message_id", "tool_call_id", "llm_id", "work", "name", "member", "code", "tool", "kind",
       "status", "uri", "provider", "role", "hash", "verdict", "agent_name", "note_type",
       "backend", "action", "language", "source_member", "brought_by", "by", "to"}  # fmt: skip


def chinese(value: Any, key: str = "") -> Any:
    """Put a sign for each letter of what people and models wrote, so that lengths stay."""
    if isinstance(value, str) and key not in OWN and value not in LOGGED:
        return re.sub(r"[A-Za-z_]{2,}", lambda word: "文" * len(word[0]), value)
    if isinstance(value, list):
        return [chinese(item, key) for item in value]
    if isinstance(value, dict):
        return {name: chinese(item, name) for name, item in value.items()}
    return value


def in_chinese(events: list[Said]) -> list[Said]:
    return [
        (voice, type(data).model_validate(chinese(data.model_dump()))) for voice, data in events
    ]


def run_of(user: User, events: list[Said], **fields: Any) -> Run:
    """Store a run in which all that people and models wrote is Chinese."""
    run = recorded.record(user, in_chinese(events))
    Run.objects.filter(pk=run.pk).update(topic="灯塔怎样警告船只？", language="zh", **fields)
    Source.objects.filter(run=run).update(title="灯塔")
    for archive in Archive.objects.all():
        Archive.objects.filter(pk=archive.pk).update(text=chinese(archive.text))
    return run


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", is_staff=True, is_superuser=True)


@pytest.fixture
def runs(ada: User) -> dict[str, Run]:
    """A run of every kind."""
    whole = recorded.whole()
    half = whole[: len(whole) // 2]
    skipped = v.TaskSkipped(reason="Nothing was found.")
    made = {
        "completed": run_of(ada, [*whole[:-1], (recorded.researcher(3), skipped), whole[-1]]),
        "running": run_of(ada, half),
        "queued": run_of(ada, [], status="queued"),
        "paused": run_of(ada, [*half, (LEADER, v.RunPaused(by="ada"))], status="paused"),
    }
    for code in ("no_source", "internal"):
        failed = v.RunFailed(code=code, message="Something went wrong here (0123456789ab).")
        made[code] = run_of(
            ada, [*half, (LEADER, failed)], status="failed", error_code=code,
            error_message=failed.message,
        )  # fmt: skip
    said = v.RunCancelling(by="ada"), v.RunCancelled(by="ada")
    made["cancelled"] = run_of(ada, [*half, *((LEADER, one) for one in said)], status="cancelled")
    Run.objects.filter(status__in=("failed", "cancelled", "completed")).update(
        ended_at="2026-01-01T00:00:00Z"
    )
    return made


@pytest.fixture
def rows(runs: dict[str, Run]) -> Run:
    """A row of every kind, in the run that has come to its end."""
    run = with_rows(runs["completed"], "文字")
    Source.objects.filter(run=run).update(provider="library")
    run.citations.update(verdict="supported")
    run.tool_calls.update(status="ok", tool="search")
    run.works.update(error_code="")
    Blob.objects.create(stream=run.stream, hash="0" * 64, text="文")
    return run


@pytest.fixture
def pages(rows: Run, runs: dict[str, Run], ada: User) -> list[str]:
    """Every page that the URL conf knows, and so every one that is added later."""
    mine = Collection.objects.create(name="灯塔", owner=ada)
    archive = Archive.objects.create(hash="d" * 64, text="# 灯塔\n\n光。")
    document = Document.objects.create(
        collection=mine, path="灯.md", title="灯", archive=archive, outline=[[1, 0, 4]], chars=8
    )
    note = Note.objects.get()
    Note.objects.filter(pk=note.pk).update(note_type="finding", member="ada")
    places: dict[str, Any] = {
        "task_id": 1, "tool_call_id": "c1-1", "source_id": 1, "hash": "0" * 64, "format": "html",
        "collection_id": mine.pk, "document_id": document.pk, "note": note.pk, "token_id": 1,
    }  # fmt: skip
    found = []
    for pattern in get_resolver("research.urls").url_patterns:
        names = pattern.pattern.converters
        if getattr(pattern, "name", None) in (None, *FILES):
            continue
        for run in runs.values() if "run_id" in names else [rows]:
            kwargs = {name: places.get(name, run.pk) for name in names}
            found.append(reverse(pattern.name, kwargs=kwargs))  # type: ignore[union-attr]
    return [
        *found,
        "/?q=无",
        "/?topic=灯",
        "/notes/?q=无",
        f"/library/{mine.pk}/?q=无",
        "/nowhere/",
    ]


def said(html: str) -> list[str]:
    """Return what a page says: its text, and the attributes that are read or shown."""
    tree = lxml_html.fromstring(html)
    attributes = [
        value
        for node in tree.iter()
        if isinstance(node.tag, str) and not node.xpath("ancestor-or-self::code")
        for name, value in node.attrib.items()
        if (name in TOLD and not _is_for_programs(node, name)) or _is_words(name, value)
    ]
    for node in tree.xpath(UNSAID):
        node.drop_tree()
    return [*attributes, *(text for text in tree.itertext() if text.strip())]


def _is_for_programs(node: Any, name: str) -> bool:
    if name == "value":
        return node.tag != "input" or node.get("type") not in ("submit", "button", "reset")
    return name == "content"


def _is_words(name: str, value: str) -> bool:
    unsaid = ("data-of", "data-rule")
    return (
        name.startswith("data-")
        and name not in unsaid
        and " " in value.strip()
        and "{" not in value
    )


def english(html: str) -> set[str]:
    words = {word for text in said(html) for word in LATIN.findall(ADDRESS.sub(" ", text))}
    return {word for word in words if word.strip(":'") not in SAME}


def pages_of(client: Client, addresses: list[str]) -> dict[str, str]:
    """Return the pages that there are."""
    shown = {}
    for address in addresses:
        response = client.get(address)
        if (
            response.content
            and response["Content-Type"].startswith("text/html")
            and response.status_code != 302
        ):
            shown[address] = response.content.decode()
    return shown


def left_over(shown: dict[str, str]) -> dict[str, set[str]]:
    return {address: words for address, html in shown.items() if (words := english(html))}


@pytest.fixture
def reader(client: Client, ada: User) -> Client:
    client.force_login(ada)
    client.cookies["soundings_language"] = "zh-hans"
    return client


# --- in Chinese ----------------------------------------------------------------------------------
def test_no_page_has_a_word_of_english(reader: Client, pages: list[str]) -> None:
    shown = pages_of(reader, pages)
    assert len(shown) > 50
    assert left_over(shown) == {}
    assert {html.count('<html lang="zh-hans"') for html in shown.values()} == {1}


def test_no_page_of_the_admin_has_a_word_of_english(reader: Client, rows: Run) -> None:
    found = ["/admin/", "/admin/research/", "/admin/streaming/", "/admin/password_change/"]
    for model in KINDS:
        found += [list_of(model), page_of(model.objects.first()), f"{list_of(model)}add/"]
    shown = pages_of(reader, found)
    assert len(shown) > 2 * len(KINDS)
    assert left_over(shown) == {}


def test_who_comes_first_is_asked_in_the_language_of_the_browser(client: Client) -> None:
    for address in ("/signin/", "/nowhere/"):
        html = client.get(address, headers={"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"})
        assert english(html.content.decode()) == set()
        assert 'lang="zh-hans"' in html.content.decode()
    assert 'lang="en"' in client.get("/signin/").content.decode()


def test_what_was_wrong_is_said_in_chinese(reader: Client, runs: dict[str, Run]) -> None:
    running = runs["running"].pk
    wrong = [
        reader.post("/runs/", {"topic": ""}),
        reader.post("/notes/new/", {"title": "", "content": ""}),
        reader.post("/settings/tokens/", {"name": "", "days": "7"}),
        reader.post("/settings/password/", {"old_password": "x", "new_password1": "y"}),
        reader.post("/library/", {"name": ""}),
    ]
    for response in wrong:
        assert response.status_code in (200, 422), response.request["PATH_INFO"]
        assert english(response.content.decode()) == set(), response.request["PATH_INFO"]
    for ask, given in (("steer", {"text": ""}), ("resume", {}), ("steer", {"text": "文" * 5_000})):
        response = reader.post(
            f"/runs/{running}/{ask}/", given, headers={"Accept": "application/json"}
        )
        assert response.status_code >= 400
        assert not LATIN.search(response.json()["says"])


def test_a_request_that_is_refused_is_refused_in_chinese(ada: User, settings: Any) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ada)
    strict.cookies["soundings_language"] = "zh-hans"
    refused = strict.post("/runs/", {"topic": "?"})
    assert refused.status_code == 403 and english(refused.content.decode()) == set()


def test_a_fault_of_ours_is_told_in_chinese() -> None:
    with translation.override("zh-hans"):
        response = server_error(RequestFactory().get("/"))
    html = response.content.decode()
    assert english(html) == set() and 'lang="zh-hans"' in html


def test_the_language_that_was_chosen_stays(client: Client, ada: User) -> None:
    client.force_login(ada)
    client.post(reverse("set_language"), {"language": "zh-hans", "next": "/"})
    assert english(client.get("/settings/").content.decode()) == set()
    client.post(reverse("set_language"), {"language": "en", "next": "/"})
    assert 'lang="en"' in client.get("/settings/").content.decode()


# --- in English ----------------------------------------------------------------------------------
def test_in_english_no_page_has_a_word_of_chinese(client: Client, ada: User) -> None:
    client.force_login(ada)
    run = recorded.record(ada)
    Archive.objects.update(text="words")
    addresses = ["/", "/notes/", "/library/", "/settings/", "/settings/password/", "/notes/new/",
                 f"/runs/{run.pk}/", f"/runs/{run.pk}/tasks/1/", f"/runs/{run.pk}/sources/1/",
                 "/admin/", "/admin/research/run/", "/nowhere/"]  # fmt: skip
    shown = pages_of(client, addresses)
    assert len(shown) == len(addresses)
    for address, html in shown.items():
        assert [text for text in said(html) if CHINESE.search(text)] == [], address


def test_english_would_be_noticed_on_every_page(
    client: Client, ada: User, pages: list[str]
) -> None:
    client.force_login(ada)
    shown = pages_of(client, pages)
    assert shown.keys() == left_over(shown).keys()
