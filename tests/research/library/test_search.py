"""What a search finds, for whom, and how its index is kept."""

import asyncio
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from research.library import index as indexing
from research.library.add import add_path
from research.library.find import readable_ids, search
from research.library.upload import add_file
from research.models import Archive, Collection, Document
from research.tools.search.base import SearchProvider, SearchScope
from research.tools.search.library import LibrarySearch

pytestmark = pytest.mark.django_db

PAGES = {
    "lamps.md": "# Lamps\n\nA lamp warns ships at night.\n\n## Oil\n\nAn oil lamp burns oil.\n\n"
    "## Gas\n\nA gas lamp burns gas.\n\n## Electric\n\nAn electric lamp glows.\n",
    "horns.md": "# Horns\n\nA horn warns ships in the fog.\n",
    "release-2.1.md": "# Release 2.1\n\nThe lamp warns ships better. The lamp is new.\n",
    "csrf.md": "# Cross Site Request Forgery protection\n\nThis guards the forms of a site.\n",
    "软件包.md": "# 软件包\n\n软件包是一个归档文件，用户用它安装程序。\n",
}


@pytest.fixture(autouse=True)
def indexes(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data" / "indexes"


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text)
    return Collection.objects.get(pk=add_path(folder, "sea").collection_id)


def titles(collection: Collection, query: str) -> list[str]:
    return [passage.title for passage in search([collection.pk], query).passages]


def test_the_best_passage_stands_first(collection: Collection) -> None:
    found = search([collection.pk], "Which horn warns ships in fog?")
    assert found.passages[0].text == "A horn warns ships in the fog."
    scores = [passage.score for passage in found.passages]
    assert scores == sorted(scores, reverse=True)


def test_words_of_the_headings_find_a_passage(collection: Collection) -> None:
    found = search([collection.pk], "electric lamps")
    assert found.passages[0].headings == ("Lamps", "Electric")


def test_an_acronym_finds_the_title_that_it_stands_for(collection: Collection) -> None:
    collection_2 = Collection.objects.create(name="other")
    text = PAGES["csrf.md"] + "\nCSRF is what it is called.\n"
    add_file("csrf.md", text.encode(), collection_2)
    assert search([collection_2.pk], "csrf").passages


def test_chinese_is_found(collection: Collection) -> None:
    assert titles(collection, "什么是软件包？") == ["软件包"]


def test_release_notes_come_last_unless_versions_are_asked_for(collection: Collection) -> None:
    assert titles(collection, "the lamp warns ships")[-1] == "Release 2.1"
    assert titles(collection, "what is new for the lamp in version 2.1")[0] == "Release 2.1"


def test_frequencies_tell_how_many_passages_hold_each_word(collection: Collection) -> None:
    found = search([collection.pk], "a horn of unicorns")
    assert found.frequencies == {"horn": 1, "unicorn": 0}
    assert found.documents == 8


def test_a_query_of_empty_words_finds_nothing(collection: Collection) -> None:
    assert search([collection.pk], "what is it?").passages == ()
    assert search([collection.pk], "").passages == ()


def test_no_collection_is_told(db: None) -> None:
    assert search([], "lamps").notice


def test_the_outline_lists_the_sections_below_the_heading_asked_for(
    collection: Collection,
) -> None:
    found = search([collection.pk], "Which lamps are there?")
    assert [item.text for item in found.outline] == ["Oil", "Gas", "Electric"]
    for item in found.outline:
        text = Archive.objects.get(pk=found.passages[item.passage].archive_hash).text
        assert text[item.start : item.end] == item.text


def test_the_outline_of_several_collections_is_of_the_best_passages_one(
    collection: Collection, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("boats.md", "more.md"):
        (other / name).write_text(PAGES["lamps.md"].replace("warns ships", "lights the boat"))
    boats = add_path(other, "boats").collection_id
    for query in ("Which lamps are there?", "Which lamps warn ships?", "lamps that light a boat"):
        found = search([collection.pk, boats], query)
        documents = {passage.document_id for passage in found.passages}
        assert (
            Document.objects.filter(pk__in=documents).values("collection").distinct().count() == 2
        )
        assert found.outline
        for item in found.outline:
            text = Archive.objects.get(pk=found.passages[item.passage].archive_hash).text
            assert text[item.start : item.end] == item.text


def test_only_as_many_as_asked_for_are_returned(collection: Collection) -> None:
    assert len(search([collection.pk], "lamp ships", limit=2).passages) == 2


def test_a_scope_holds_only_what_its_user_may_read(db: None) -> None:
    ann, bob = User.objects.create_user("ann"), User.objects.create_user("bob")
    everybody = Collection.objects.create(name="all").pk
    anns = Collection.objects.create(name="hers", owner=ann).pk
    assert set(readable_ids(SearchScope(ann.pk))) == {everybody, anns}
    assert readable_ids(SearchScope(bob.pk)) == [everybody]
    assert readable_ids(SearchScope(bob.pk, (anns,))) == []
    assert readable_ids(SearchScope(None)) == [everybody]
    assert readable_ids(SearchScope(ann.pk, (anns,))) == [anns]
    assert readable_ids(SearchScope(ann.pk, ())) == []


def test_the_index_is_built_again_when_it_is_missing(collection: Collection, indexes: Path) -> None:
    shutil.rmtree(indexes)
    indexing._loaded.clear()
    assert titles(collection, "horn") == ["Horns"]
    assert list(indexes.iterdir())


def test_a_damaged_index_is_built_again(collection: Collection, indexes: Path) -> None:
    indexing._loaded.clear()
    (folder,) = indexes.iterdir()
    (folder / "documents.json").write_text("{")
    assert titles(collection, "horn") == ["Horns"]


def test_a_new_version_replaces_the_index_of_the_old(collection: Collection, indexes: Path) -> None:
    before = [path.name for path in indexes.iterdir()]
    add_file("bells.md", b"# Bells\n\nA bell warns ships too.\n", collection)
    assert titles(collection, "bell") == ["Bells"]
    after = [path.name for path in indexes.iterdir()]
    assert len(after) == 1
    assert after != before


def test_a_database_made_anew_does_not_find_the_old_ones_index(
    collection: Collection, indexes: Path
) -> None:
    key, version = collection.pk, collection.version
    Collection.objects.filter(pk=key).delete()
    again = Collection.objects.create(pk=key, name="sea", version=version)
    assert search([again.pk], "horn").passages == ()


def test_many_threads_may_search_at_once(collection: Collection, indexes: Path) -> None:
    shutil.rmtree(indexes)
    indexing._loaded.clear()
    found: list[object] = []
    index = indexing.load(collection)

    def look() -> None:
        for _ in range(20):
            found.append(float(index.scores(["horn"]).max()))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160
    assert len(set(found)) == 1


BUILD = """
import sys
from pathlib import Path
import django
from django.conf import settings
django.setup()
settings.DATA_DIR = Path(sys.argv[1])
settings.DATABASES["default"]["NAME"] = sys.argv[2]
from research.library import index
from research.models import Collection
print(len(index.load(Collection.objects.get(pk=sys.argv[3]))))
"""


@pytest.mark.django_db(transaction=True)
def test_processes_that_build_the_same_index_end_with_one(
    collection: Collection, indexes: Path, settings: Any
) -> None:
    shutil.rmtree(indexes)
    name = str(settings.DATABASES["default"]["NAME"])
    arguments = [sys.executable, "-c", BUILD, str(indexes.parent), name, str(collection.pk)]
    running = [subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=60)[0].strip() for process in running] == ["8"] * 3
    assert len(list(indexes.iterdir())) == 1


@pytest.mark.django_db(transaction=True)
async def test_the_provider_searches_in_a_thread(collection: Collection) -> None:
    provider: SearchProvider = LibrarySearch()
    assert provider.name == "library"
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            started = time.monotonic()
            await asyncio.sleep(0.001)
            longest = max(longest, time.monotonic() - started)

    ticking = asyncio.create_task(tick())
    found = await provider.search("horn", SearchScope(None))
    ticking.cancel()
    assert [passage.title for passage in found.passages] == ["Horns"]
    owner = await sync_to_async(User.objects.create_user)("ann")
    await sync_to_async(Collection.objects.update)(owner=owner)
    assert (await provider.search("horn", SearchScope(None))).passages == ()


def test_the_words_of_a_file_name_find_its_passages(collection: Collection) -> None:
    add_file("howto-keep_whistles.md", b"# Steam\n\nIt is blown at noon.\n", collection)
    collection.refresh_from_db()
    assert titles(collection, "whistles") == ["Steam"]


def test_a_heading_that_gives_its_acronym_comes_before_what_only_uses_it(
    collection: Collection,
) -> None:
    add_file("gmdss.md", b"# Distress (GMDSS)\n\nGMDSS calls for help by radio.\n", collection)
    add_file("radios.md", b"# Old radios\n\nGMDSS calls for help by radio.\n", collection)
    collection.refresh_from_db()
    assert titles(collection, "What is GMDSS?")[0] == "Distress (GMDSS)"


def test_a_found_list_brings_the_passages_it_goes_on_in(collection: Collection) -> None:
    items = "".join(f"* Mark {n} is painted in two colours {'and more ' * 40}.\n" for n in range(6))
    page = f"# Buoys\n\nThe cardinal buoys have these marks:\n\n{items}"
    add_file("buoys.md", page.encode(), collection)
    collection.refresh_from_db()
    found = search([collection.pk], "cardinal").passages
    starts = sorted(passage.start for passage in found if passage.title == "Buoys")
    assert len(starts) > 2
    assert any("Mark 5" in passage.text for passage in found)
    assert len(search([collection.pk], "cardinal", limit=2).passages) <= 2
