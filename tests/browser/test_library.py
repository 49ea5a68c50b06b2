"""A person puts documents into the library, asks about them, and takes them out again."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.conftest import Serve
from tests.research.library.papers import pdf, word
from tests.rig.server import Server

from .conftest import PASSWORD, Visit

pytestmark = pytest.mark.browser
Visiting = Callable[..., Awaitable[Visit]]


@pytest.fixture
def library(serve: Serve) -> Server:
    """A site with the keyless model, a user, and nothing to search."""
    server = serve("daphne", start=False, UPLOAD_FILE_MB="1")
    server.create_user("ada", PASSWORD)
    server.start()
    return server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "tides.pdf").write_bytes(pdf())
    (folder / "潮汐.docx").write_bytes(word())
    (folder / "lamps.md").write_text("# Lamps\n\nA lamp warns ships at night.\n")
    (folder / "horns.html").write_text("<h1>Horns</h1><p>A horn warns ships in the fog.</p>")
    (folder / "灯塔.txt").write_bytes("灯塔\n\n灯塔在夜间警告船只。\n".encode("gb18030"))
    (folder / "program.exe").write_bytes(b"MZ")
    (folder / "huge.txt").write_bytes(b"too much " * 200_000)
    return folder


@pytest.fixture
def files(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in folder.iterdir()}


async def make(ada: Visit, name: str) -> None:
    await ada.page.goto(f"{ada.server.url}/library/")
    await ada.page.fill("[name=name]", name)
    await ada.page.click("form.make button")
    await ada.page.wait_for_url(re.compile(r"/library/\d+/$"))


async def test_from_the_file_to_the_passage_that_is_cited(
    library: Server, visit: Visiting, files: dict[str, Path]
) -> None:
    ada = await visit(library)
    await make(ada, "Harbour 港口")
    await ada.page.set_input_files("#files", list(files.values()))
    outcomes = ada.page.locator(".outcomes .outcome")
    await expect(outcomes).to_have_count(7)
    await expect(ada.page.locator(".outcome-added")).to_have_count(5)
    refused = ada.page.locator(".outcome-refused")
    await expect(refused.filter(has_text="program.exe")).to_contain_text("unsupported")
    await expect(refused.filter(has_text="huge.txt")).to_contain_text("larger than 1 MB")
    await expect(ada.page.locator(".upload-state")).to_contain_text("7 of 7 files, 2 not added")
    await expect(ada.page.locator(".documents .run-row")).to_have_count(5)
    await expect(ada.page.locator("#sizes")).to_contain_text("5 documents")

    await ada.page.set_input_files("#files", [files["lamps.md"]])
    await expect(outcomes.last).to_contain_text("There already, unchanged")

    await ada.page.click("text=Ask in this collection")
    await ada.ask("How high was the highest water of the bay?")
    await ada.complete()
    await expect(ada.page.locator("#report")).to_contain_text("9.4 m")
    await ada.page.locator("#report .cite a").first.click()
    quote = ada.page.locator("mark#quote")
    await expect(quote).to_be_in_viewport()
    await expect(quote).to_contain_text("The highest water of the bay was 9.4 m")
    assert ada.trouble == []


async def test_files_are_dropped_found_and_deleted(
    library: Server, visit: Visiting, files: dict[str, Path]
) -> None:
    ada = await visit(library, width=360)
    await make(ada, "Dropped")
    dropped = await ada.page.evaluate_handle(
        """() => {
          const data = new DataTransfer();
          for (const [name, text] of [['a.md', '# Bells\\n\\nA bell warns ships.'],
                                      ['b.txt', 'Buoys\\n\\nA buoy marks the rocks.']])
            data.items.add(new File([text], name));
          return data;
        }"""
    )
    for event in ("dragover", "drop"):
        await ada.page.dispatch_event("body", event, {"dataTransfer": dropped})
    await expect(ada.page.locator(".outcome-added")).to_have_count(2)
    await expect(ada.page.locator(".documents .run-row")).to_have_count(2)
    wide = "document.documentElement.scrollWidth <= window.innerWidth"
    assert await ada.page.evaluate(wide), "nothing stands out of a narrow screen"

    await ada.page.fill("#q", "rocks")
    await ada.page.press("#q", "Enter")
    await expect(ada.page.locator(".passages")).to_contain_text("A buoy marks the rocks.")
    await ada.page.fill("#q", "")
    await ada.page.press("#q", "Enter")
    await ada.page.check("input[aria-label*=Bells]")
    await ada.page.click("text=Delete what is chosen")
    await ada.page.click("button[name=sure]")
    await expect(ada.page.locator(".said")).to_contain_text("1 document was deleted.")
    await expect(ada.page.locator(".documents .run-row")).to_have_count(1)
    assert ada.trouble == []


async def test_without_scripts_and_with_the_keyboard_alone(
    library: Server, visit: Visiting, files: dict[str, Path]
) -> None:
    ada = await visit(library, script=False)
    await make(ada, "Plain")
    await ada.page.set_input_files("#files", [files["tides.pdf"], files["program.exe"]])
    await ada.page.focus("#files")
    await ada.page.keyboard.press("Tab")
    await ada.page.keyboard.press("Enter")
    told = ada.page.locator(".outcomes")
    await expect(told).to_contain_text("Added")
    await expect(told).to_contain_text("cannot be read")
    await ada.page.click("text=To the collection")
    await ada.page.click("text=Delete the collection")
    await ada.page.click("text=Delete it")
    await expect(ada.page.locator(".said")).to_contain_text("“Plain” was deleted.")
    assert ada.trouble == []


async def test_a_connection_that_breaks_is_told_for_each_file(
    library: Server, visit: Visiting, files: dict[str, Path]
) -> None:
    ada = await visit(library)
    await make(ada, "Broken")
    await ada.page.route("**/upload/", lambda route: route.abort())
    await ada.page.set_input_files("#files", [files["lamps.md"], files["horns.html"]])
    await expect(ada.page.locator(".outcome-refused")).to_have_count(2)
    await expect(ada.page.locator(".outcomes")).to_contain_text("The connection broke.")
    await ada.page.unroute("**/upload/")
    await ada.page.set_input_files("#files", [files["lamps.md"]])
    await expect(ada.page.locator(".outcome-added")).to_have_count(1)
