"""A small library about lighthouses and a team that answers from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from research.library.add import add_path
from research.library.find import search
from research.models import Archive, Document
from research.tools.search.base import SearchResult

from .team import Team

PAGES = {
    "lamps.md": """\
# Lamps

A lamp is a light that warns ships of the rocks at night. This light is seen for twenty miles.

## How a lamp works

The keeper lights the lamp at dusk, and then a clockwork turns the Fresnel lens around it.
Each turn sends a beam over the sea, so that ships see a flash. For example:

```python
lamp.light()
```

## Limits of the lamp

In fog the lamp cannot be seen, so a horn is needed. However, a lamp must not be lit by day.
See the page on horns for details.

## Kinds of lamps

### Oil lamps

Oil lamps burn whale oil and were used until 1840.

### Gas lamps

Gas lamps burn acetylene and need no keeper.

### Electric lamps

Electric lamps are the brightest, with 1,000 watts.

| Lamp | Range |
|------|-------|
| Oil lamp | 12 miles |
| Electric lamp | 25 miles |
""",
    "horns.md": """\
# Horns

A horn is a pipe that warns ships in fog. Unlike a lamp, a horn is heard and not seen.

## Why horns are used

Horns are used because fog hides the light of a lamp. They protect ships from the rocks.
""",
    "灯塔.md": """\
# 灯塔

灯塔是一种向船只发出警告的建筑。它位于海岸上的岩石旁边。

## 灯塔如何工作

看守人在黄昏点亮灯塔的灯，然后透镜绕着灯旋转，把光束送到海上。

## 为什么需要灯塔

因为夜里看不见岩石，所以船只需要灯塔的警告，否则会撞上岩石。
""",
}


@pytest.fixture
def team_on(
    transactional_db: None, tmp_path: Path, settings: Any
) -> Callable[[dict[str, str]], Callable[..., Team]]:
    """Make what makes teams that search some pages."""
    settings.DATA_DIR = tmp_path / "data"

    def bring(pages: dict[str, str]) -> Callable[..., Team]:
        folder = tmp_path / "pages"
        folder.mkdir()
        for name, text in pages.items():
            (folder / name).write_text(text)
        key = add_path(folder, "sea").collection_id

        def find(query: str) -> SearchResult:
            try:
                return search([key], query)
            finally:
                connection.close()  # the agent calls it in a thread of its own

        return lambda **options: Team(find, **options)

    return bring


@pytest.fixture
def team(team_on: Callable[[dict[str, str]], Callable[..., Team]]) -> Callable[..., Team]:
    """Make a team that searches the pages."""
    return team_on(PAGES)


@pytest.fixture
def text_of(transactional_db: None) -> Callable[[Team, int], str]:
    """Return the stored text of a source by the number that a team gave it."""

    def read(team: Team, source: int) -> str:
        uri = next(uri for uri, number in team._numbers.items() if number == source)
        document = Document.objects.get(pk=int(uri.split(":")[1]))
        return Archive.objects.get(pk=document.archive_id).text

    return read
