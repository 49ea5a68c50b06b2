"""The library's pages, as a person without JavaScript has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import unescape
from typing import Any
from unittest.mock import patch

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver, reverse

from research.library import reading, shown, upload
from research.library.reading import File
from research.library.upload import add_file
from research.models import Archive, Collection, Document
from tests.research.library.papers import pdf, word

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
LAMP = b"# Lamps\n\nA lamp warns ships at night.\n"


@pytest.fixture(autouse=True)
def soon() -> Any:
    """What is built beside requests would still be at it when a test has ended."""
    with patch("research.library.later.soon") as asked:
        yield asked


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password="a-long-password")


@pytest.fixture
def page(ada: User, client: Client) -> Client:
    client.force_login(ada)
    return client


@pytest.fixture
def mine(ada: User) -> Collection:
    made = Collection.objects.create(name="Harbour 港口", owner=ada)
    add_file("lamps.md", LAMP, made)
    return made


@pytest.fixture
def lamps(mine: Collection) -> Document:
    return mine.documents.get()


def said(response: Any) -> str:
    return unescape(str(response.content.decode()))


def at(name: str, collection: Collection, *more: int) -> str:
    return reverse(name, args=[collection.pk, *more])


def sent(client: Client, collection: Collection, *files: tuple[str, bytes], **more: Any) -> Any:
    uploads = [SimpleUploadedFile(name, data) for name, data in files]
    return client.post(at("upload", collection), {"files": uploads, **more})


def addresses(collection_id: int, document_id: int) -> list[str]:
    """Every address of a collection that the URL conf knows, and so any that is added later."""
    given = {"collection_id": collection_id, "document_id": document_id}
    found = []
    for pattern in get_resolver("research.urls").url_patterns:
        names = pattern.pattern.converters
        if "collection_id" in names:
            kwargs = {name: given[name] for name in names}
            found.append(reverse(str(pattern.name), kwargs=kwargs))  # type: ignore[union-attr]
    return found


# --- who may see what -----------------------------------------------------------------------------
def test_everything_of_the_library_asks_who_comes(client: Client, lamps: Document) -> None:
    known = addresses(lamps.collection_id, lamps.pk)
    assert len(known) >= 7
    for address in [*known, reverse("library")]:
        for answer in (client.get(address), client.post(address)):
            assert answer.status_code == 302, address
            assert answer["Location"].startswith("/signin/?next=/library/"), address


def test_what_is_anothers_is_not_there(client: Client, lamps: Document) -> None:
    client.force_login(User.objects.create_user("bob", is_staff=True, is_superuser=True))
    for address in addresses(lamps.collection_id, lamps.pk):
        for answer in (client.get(address), client.post(address, {"document": lamps.pk})):
            assert answer.status_code in (404, 405), address  # 405 says nothing of what is there
        assert client.get(address).status_code == 404, address
    assert Document.objects.filter(pk=lamps.pk).exists()
    assert "Harbour" not in said(client.get(reverse("library")))


def test_a_document_is_not_there_in_another_collection(page: Client, lamps: Document) -> None:
    other = Collection.objects.create(name="other", owner=User.objects.get())
    for name in ("document", "document-text"):
        assert page.get(at(name, other, lamps.pk)).status_code == 404
    page.post(at("remove-documents", other), {"document": lamps.pk, "sure": "1"})
    assert Document.objects.filter(pk=lamps.pk).exists()


@pytest.mark.parametrize("number", [0, 10**18, 10**30])
def test_an_id_of_any_size_is_just_not_there(page: Client, mine: Collection, number: int) -> None:
    assert page.get(f"/library/{number}/").status_code == 404
    assert page.get(f"/library/{mine.pk}/documents/{number}/").status_code == 404
    answer = page.post(at("remove-documents", mine), {"document": number}, follow=True)
    assert "Choose the documents" in said(answer)


def test_a_shared_collection_is_read_by_all_and_changed_by_none(page: Client) -> None:
    shared = Collection.objects.create(name="Everybody's")
    add_file("lamps.md", LAMP, shared)
    document = shared.documents.get()
    assert "Add documents" not in said(page.get(at("collection", shared)))
    assert page.get(at("document", shared, document.pk)).status_code == 200
    assert sent(page, shared, ("a.md", LAMP)).status_code == 403
    for name in ("rename-collection", "delete-collection", "remove-documents"):
        answer = page.post(at(name, shared), {"name": "Mine", "document": document.pk, "sure": "1"})
        assert answer.status_code == 403, name
    assert Document.objects.get().collection.name == "Everybody's"


def test_staff_with_the_permission_change_what_is_shared(page: Client, ada: User) -> None:
    shared = Collection.objects.create(name="Everybody's")
    ada.is_staff = True
    ada.save()
    assert sent(page, shared, ("a.md", LAMP)).status_code == 403
    ada.user_permissions.add(Permission.objects.get(codename="change_collection"))
    assert sent(page, shared, ("a.md", LAMP)).status_code == 200
    page.post(reverse("library"), {"name": "For all", "shared": "on"})
    assert Collection.objects.get(name="For all").owner is None


def test_nobody_shares_without_the_permission(page: Client, ada: User) -> None:
    page.post(reverse("library"), {"name": "For all", "shared": "on"})
    assert Collection.objects.get(name="For all").owner == ada


def test_a_form_without_its_token_does_nothing(ada: User, mine: Collection) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ada)
    assert sent(strict, mine, ("a.md", LAMP)).status_code == 403
    assert strict.post(at("delete-collection", mine)).status_code == 403
    assert mine.documents.count() == 1


# --- collections ----------------------------------------------------------------------------------
def test_collections_are_made_listed_and_renamed(page: Client, mine: Collection) -> None:
    answer = page.post(reverse("library"), {"name": "  Tides\u202e  潮汐 "}, follow=True)
    made = Collection.objects.get(name="Tides 潮汐")
    assert answer.redirect_chain == [(at("collection", made), 302)]
    page.post(at("rename-collection", made), {"name": "Tides of 1977"})
    listed = said(page.get(reverse("library")))
    assert "Tides of 1977" in listed
    assert "0 documents" in listed
    assert "Harbour 港口" in listed
    assert "1 document" in listed


@pytest.mark.parametrize("name", ["", "   ", "\u202e", "...", "x" * 81, "Harbour 港口"])
def test_a_name_that_cannot_be_is_told(page: Client, mine: Collection, name: str) -> None:
    answer = page.post(reverse("library"), {"name": name})
    assert answer.status_code == 422
    assert 'role="alert"' in said(answer)
    other = Collection.objects.create(name="other", owner=mine.owner)
    answer = page.post(at("rename-collection", other), {"name": name}, follow=True)
    assert 'class="error"' in said(answer)
    assert Collection.objects.filter(owner=mine.owner).count() == 2


def test_a_collection_goes_only_after_it_was_said_twice(page: Client, mine: Collection) -> None:
    asked = said(page.get(at("delete-collection", mine)))
    assert "Delete “Harbour 港口”?" in asked
    assert "1 document." in asked
    answer = page.post(at("delete-collection", mine), follow=True)
    assert "“Harbour 港口” was deleted." in said(answer)
    assert not Document.objects.exists()
    assert not Archive.objects.exists()


def test_one_may_ask_in_this_collection(page: Client, mine: Collection) -> None:
    link = f"{reverse('home')}?collection={mine.pk}"
    assert f'href="{link}"' in said(page.get(at("collection", mine)))
    assert f'<option value="{mine.pk}" selected>' in said(page.get(link))


# --- uploads --------------------------------------------------------------------------------------
def test_each_file_has_its_own_outcome(page: Client, mine: Collection) -> None:
    answer = sent(
        page,
        mine,
        ("lamps.md", LAMP),
        ("潮汐.docx", word()),
        ("tides.pdf", pdf()),
        ("a.exe", b"MZ"),
        ("empty.txt", b""),
    )
    told = said(answer)
    assert answer.status_code == 200
    for name, words in (
        ("lamps.md", "There already, unchanged"),
        ("潮汐.docx", "Added"),
        ("tides.pdf", "Added"),
        ("a.exe", "Files of the kind “.exe” cannot be read."),
        ("empty.txt", "The file is empty."),
    ):
        part = told.split(name, 1)[1].split("</li>")[0]
        assert words in part, name
    assert sorted(row.path for row in mine.documents.all()) == [
        "lamps.md",
        "tides.pdf",
        "潮汐.docx",
    ]


def test_a_script_gets_the_outcomes_as_data(page: Client, mine: Collection, soon: Any) -> None:
    data = {"files": [SimpleUploadedFile("a.md", LAMP), SimpleUploadedFile("b.exe", b"MZ")]}
    answer = page.post(at("upload", mine), data, headers={"accept": "application/json"})
    added, refused = answer.json()["files"]
    assert (added["name"], added["outcome"], added["code"]) == ("a.md", "added", "")
    assert page.get(added["url"]).status_code == 200
    assert (refused["outcome"], refused["code"], refused["url"]) == ("refused", "unsupported", "")
    soon.assert_called_once_with(mine.pk)


def test_a_search_finds_what_the_upload_says_was_added(page: Client, mine: Collection) -> None:
    assert "zebra" not in said(page.get(at("collection", mine) + "?q=striped"))
    sent(page, mine, ("zoo.md", "# Zoo\n\nA zebra is striped. 斑马有条纹。\n".encode()))
    for query in ("striped", "斑马条纹"):
        assert "A zebra is striped." in said(page.get(at("collection", mine) + f"?q={query}"))


def test_files_of_a_folder_keep_their_paths(page: Client, mine: Collection) -> None:
    files = [("a.md", b"# One\n\nOne lamp burns.\n"), ("a.md", b"# Two\n\nTwo lamps burn.\n")]
    sent(page, mine, *files, path=["docs/x/a.md", "docs/y/a.md"])
    paths = mine.documents.values_list("path", flat=True)
    assert {"docs/x/a.md", "docs/y/a.md"} <= set(paths)


NAMES = [
    ("../../x.md", "x.md"),
    ("..\\..\\x.md", "x.md"),
    ("C:\\docs\\x.md", "docs/x.md"),
    ("gpj\u202edm.md", "gpjdm.md"),
    ("a\r\nSet-Cookie: y.md", "a Set-Cookie: y.md"),
    ("CON", "CON"),
    ("灯塔 手册.md", "灯塔 手册.md"),
    ("👩‍🚀.md", "👩‍🚀.md"),
]


@pytest.mark.parametrize(("name", "kept"), NAMES)
def test_a_name_leads_nowhere_and_hides_nothing(
    page: Client, mine: Collection, name: str, kept: str
) -> None:
    sent(page, mine, ("file", b"A lamp of another kind warns ships.\n"), path=[name])
    document = mine.documents.exclude(path="lamps.md").get()
    assert document.path == kept
    answer = page.get(at("document-text", mine, document.pk))
    disposition = answer["Content-Disposition"]
    assert disposition.startswith("attachment; filename")
    assert not {"/", "\\", "\n", "\r", "\u202e"} & set(disposition)
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert page.get(at("collection", mine)).status_code == 200


def test_two_names_of_three_hundred_letters_stay_two(page: Client, mine: Collection) -> None:
    files = [("a", b"A lamp warns ships.\n"), ("b", b"A horn warns ships.\n")]
    sent(page, mine, *files, path=["n" * 300 + "1.txt", "n" * 300 + "2.txt"])
    paths = list(mine.documents.exclude(path="lamps.md").values_list("path", flat=True))
    assert len(set(paths)) == 2
    assert all(len(path) == 200 and path.endswith(".txt") for path in paths)


def test_a_name_without_a_letter_is_refused(page: Client, mine: Collection) -> None:
    assert "bad_name" in said(sent(page, mine, ("a", b"text"), path=["\u202e/.."]))


def test_markup_in_a_name_and_in_a_text_is_shown_as_it_is(page: Client, mine: Collection) -> None:
    evil = "<img src=x onerror=alert(1)>"
    sent(page, mine, ("a", f"# T {evil}\n\nA lamp. `{evil}`\n".encode()), path=[f"{evil}.txt"])
    document = mine.documents.exclude(path="lamps.md").get()
    for address in (
        at("collection", mine),
        at("collection", mine) + "?q=lamp",
        at("document", mine, document.pk),
    ):
        assert "<img" not in page.get(address).content.decode()


def test_a_file_that_is_too_large_is_refused_and_the_others_are_not(
    page: Client, mine: Collection, settings: Any
) -> None:
    settings.UPLOAD_FILE_BYTES = 2_000_000
    told = said(sent(page, mine, ("big.txt", b"a lamp " * 400_000), ("a.md", LAMP)))
    assert "The file is larger than 2 MB." in told.split("big.txt", 1)[1].split("</li>")[0]
    assert mine.documents.filter(path="a.md").exists()


def test_no_file_at_all_is_told(page: Client, mine: Collection) -> None:
    answer = page.post(at("upload", mine))
    assert (answer.status_code, "No file was chosen." in said(answer)) == (422, True)


def test_what_is_sent_into_a_collection_that_goes_away_is_not_there(
    page: Client, mine: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_and_remove(files: Iterator[File]) -> Any:
        yield from reading.read_all(files)
        Collection.objects.filter(pk=mine.pk).delete()

    monkeypatch.setattr(upload, "read_all", read_and_remove)
    assert sent(page, mine, ("a.md", LAMP)).status_code == 404
    assert not Document.objects.exists()


# --- documents ------------------------------------------------------------------------------------
def test_a_document_shows_its_text_and_the_passage_that_is_meant(
    page: Client, mine: Collection
) -> None:
    add_file("tides.pdf", pdf(), mine)
    found = said(page.get(at("collection", mine) + "?q=highest water of the bay"))
    assert "Tides of the bay › Storm surges › Page 3" in found
    link = found.split('<ul class="passages">')[1].split('href="')[1].split('"')[0]
    shown_page = said(page.get(link.split("#")[0]))
    marked = shown_page.split('<mark id="quote"')[1].split("</mark>")[0]
    assert "The highest water of the bay was 9.4 m" in marked
    assert ">Page 3</h4>" in shown_page


def test_a_long_document_is_shown_in_parts(
    page: Client, mine: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown, "PART", 500)
    monkeypatch.setattr(shown, "_SLACK", 200)
    text = "\n\n".join(f"Lamp number {n} burns in its own rhythm at night." for n in range(60))
    add_file("long.txt", text.encode(), mine)
    document = mine.documents.get(path="long.txt")
    first = said(page.get(at("document", mine, document.pk)))
    assert ("Lamp number 0 " in first, "Lamp number 59 " in first) == (True, False)
    last = said(page.get(at("document", mine, document.pk) + "?part=999999999"))
    assert ("Lamp number 0 " in last, "Lamp number 59 " in last) == (False, True)
    place = document.archive.text.index("Lamp number 30 ")
    marked = said(page.get(at("document", mine, document.pk) + f"?start={place}&end={place + 14}"))
    assert '<mark id="quote" tabindex="-1">Lamp number 30</mark>' in marked


@pytest.mark.parametrize("query", ["start=5&end=2", "start=-1&end=x", "end=99999999", "part=0"])
def test_an_odd_address_shows_the_document_all_the_same(
    page: Client, mine: Collection, lamps: Document, query: str
) -> None:
    assert "A lamp warns" in said(page.get(at("document", mine, lamps.pk) + f"?{query}"))


def test_documents_go_only_after_it_was_said_twice(page: Client, mine: Collection) -> None:
    add_file("horns.md", b"# Horns\n\nA horn warns ships in fog.\n", mine)
    add_file("bells.md", b"# Bells\n\nA bell warns ships.\n", mine)
    chosen = list(mine.documents.exclude(path="lamps.md").values_list("pk", flat=True))
    asked = said(page.post(at("remove-documents", mine), {"document": chosen}))
    assert "Delete these 2 documents?" in asked
    assert mine.documents.count() == 3
    answer = page.post(at("remove-documents", mine), {"document": chosen, "sure": "1"}, follow=True)
    assert "2 documents were deleted." in said(answer)
    assert [row.path for row in mine.documents.all()] == ["lamps.md"]
    assert "A horn" not in said(page.get(at("collection", mine) + "?q=horn"))


def test_documents_are_found_by_their_names(page: Client, mine: Collection) -> None:
    add_file("潮汐手册.txt", "月球引力\n\n海水在月球引力下涨落。\n".encode(), mine)
    found = said(page.get(at("collection", mine) + "?q=手册"))
    assert "潮汐手册.txt" in found
    assert "lamps.md" not in found.split("outcomes")[1].split('id="documents"')[1]
    assert "No document is called" in said(page.get(at("collection", mine) + "?q=nothing"))
    assert page.get(at("collection", mine) + "?q=%00nothing").status_code == 400


# --- many -----------------------------------------------------------------------------------------
def queries(ask: Callable[[], Any]) -> int:
    with CaptureQueriesContext(
        connection,
    ) as taken:
        assert ask().status_code == 200
    return len(taken)


def many(collection: Collection, count: int) -> None:
    text = Archive.objects.get_or_create(hash="0" * 64, text="A lamp.")[0]
    have = collection.documents.count()
    Document.objects.bulk_create(
        Document(collection=collection, path=f"{n}.txt", title=f"T {n}", archive=text, chars=7)
        for n in range(have, have + count)
    )


def test_a_page_asks_as_much_for_three_documents_as_for_three_thousand(
    page: Client, mine: Collection
) -> None:
    places = [at("collection", mine), at("collection", mine) + "?q=T", reverse("library")]
    many(mine, 2)
    page.get(places[1])  # makes the index, which both then find
    few = [queries(lambda place=place: page.get(place)) for place in places]  # type: ignore[misc]
    many(mine, 3000)
    Collection.objects.bulk_create(Collection(name=f"c{n}", owner=mine.owner) for n in range(30))
    assert [queries(lambda place=place: page.get(place)) for place in places] == few  # type: ignore[misc]
    assert max(few) < 12


def test_an_upload_asks_little_more_for_forty_files_than_for_four(
    page: Client, mine: Collection
) -> None:
    def upload(count: int, kind: str) -> int:
        files = [(f"{kind}{n}.md", f"# {kind} {n}\n\nLamp {n}.\n".encode()) for n in range(count)]
        return queries(lambda: sent(page, mine, *files))

    four, forty = upload(4, "a"), upload(40, "b")
    assert forty - four <= 36  # whether it is there already is asked of each
