"""A list is read below the sentence that announces it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from research.llm.keyless.lists import Item, within
from research.models import Document
from research.text.markers import find_markers, strip_markers

from .team import Team

FILLING = "It has been kept by the families of the coast for more than a hundred years now. "
KINDS = (
    "Steam drives the oldest, whose boiler needs coal and water.",
    "Compressed air feeds those that Denmark built.",
    "Diesel engines turn a drum with slots in the loudest.",
    "Electric membranes sound where nobody lives.",
)
PAGE = f"""\
# Foghorns

A foghorn is a horn that warns ships in fog. {FILLING}

## Limits of the foghorn

The foghorn currently has the following limits. They may be lifted one day.

* It does not sound below the freezing point.
* It is not heard against the wind of a storm.
* Its reed is worn after a thousand hours.

## Kinds

The foghorn comes in these kinds:

""" + "".join(f"* {kind} {FILLING * 3}\n" for kind in KINDS)


@pytest.fixture
def foghorns(team_on: Callable[[dict[str, str]], Callable[..., Team]]) -> Team:
    return team_on({"foghorns.md": PAGE})()


def test_items_that_lean_on_their_list_stand_below_what_announces_it(
    foghorns: Team,
) -> None:
    lines = foghorns.report("What are the limits of the foghorn?").split("\n")
    said = [strip_markers(line) for line in lines]
    at = next(i for i, line in enumerate(said) if "currently has the following limits" in line)
    assert said[at].startswith("- ")
    assert [line.removeprefix("- ") for line in said[at + 1 : at + 4]] == [
        "It does not sound below the freezing point.",
        "It is not heard against the wind of a storm.",
        "Its reed is worn after a thousand hours.",
    ]
    assert all(line.startswith("  - ") for line in lines[at + 1 : at + 4])


def test_a_list_goes_on_over_its_passages(foghorns: Team) -> None:
    lines = foghorns.report("Which kinds of foghorn are there?").split("\n")
    at = lines.index(next(line for line in lines if "comes in these kinds" in line))
    assert tuple(strip_markers(line)[2:] for line in lines[at + 1 : at + 5]) == KINDS


def test_each_item_is_a_quote_with_its_own_marker(foghorns: Team) -> None:
    text = Document.objects.get().archive.text
    items = 0
    for line in foghorns.report("What are the limits of the foghorn?").split("\n"):
        for found in find_markers(line):
            said = strip_markers(line).removeprefix("- ")
            assert text[found.marker.start : found.marker.end].replace("\n", " ") == said
            items += line.startswith("  - ")
    assert items >= 3


def test_as_many_items_are_kept_as_there_is_room_for() -> None:
    items = [Item(None, 0, size) for size in (40, 50, 20)]  # type: ignore[arg-type]
    assert within(items, 95) == items[:2]
    assert within(items, 39) == []
