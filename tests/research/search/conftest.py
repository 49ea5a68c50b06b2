"""A fake web whose search providers the settings lead to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from research.tools.search import asking
from research.tools.search.pace import Pace
from research.web import hosts
from tests.fakes.search import DUCKDUCKGO
from tests.fakes.web import FakeWeb


@pytest.fixture
def web(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeWeb]:
    monkeypatch.setattr(hosts, "APART_S", 0.0)
    monkeypatch.setattr(asking, "PACES", {name: Pace(4) for name in asking.PACES})
    asking.left_out.forget()
    with FakeWeb() as server:
        settings.SEARCH_PROVIDERS = ["library", "duckduckgo", "wikipedia", "arxiv"]
        settings.DUCKDUCKGO_URL = server.url(DUCKDUCKGO)
        settings.WIKIPEDIA_URL = settings.ARXIV_URL = server.url("")
        settings.FETCH_ALLOW_NETWORKS = ["127.0.0.0/8"]
        settings.FETCH_PORTS = [80, 443, server.port]
        yield server
    asking.left_out.forget()
