"""A web server of the test's own, and the settings under which its pages may be fetched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from research.web import hosts
from tests.fakes.web import FakeWeb


@pytest.fixture
def web(settings: Any) -> Iterator[FakeWeb]:
    with FakeWeb() as server:
        settings.FETCH_ALLOW_NETWORKS = ["127.0.0.0/8"]
        settings.FETCH_PORTS = [80, 443, server.port]
        yield server


@pytest.fixture(autouse=True)
def in_no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no time between requests: that they keep apart has its own test."""
    monkeypatch.setattr(hosts, "APART_S", 0.0)
