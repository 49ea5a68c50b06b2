"""The guard: nothing is ever sent to an address that is not public, however it is named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from .vectors import NOT_FOLLOWED, PLAIN, REDIRECTS

ROOT = Path(__file__).resolve().parents[3]
BAD_URLS = {
    "http://public.test@127.0.0.1/",
    "http://public.test\\@127.0.0.1/",
    "redirect http://public.test@10.0.0.5/",
    "redirect file:///etc/passwd",
    "redirect gopher://127.0.0.1/x",
    "redirect javascript:alert(1)",
    "redirect http:\\\\127.0.0.1/",
}
ENDLESS = {"redirect /loop", "redirect /hop/1"}


@cache
def sealing() -> list[str]:
    """Return the command that gives a network of one's own, or nothing where there is none."""
    for flags in ([], ["-r"]):
        command = ["unshare", *flags, "-n", "-m"]
        probe = "ip link set lo up && ip addr add 10.0.0.5/32 dev lo && mount --bind /etc /etc"
        if shutil.which("unshare") and shutil.which("ip"):
            done = subprocess.run([*command, "sh", "-c", probe], capture_output=True)
            if done.returncode == 0:
                return command
    return []


@cache
def asked(mode: str) -> dict[str, Any]:
    """Return what came of it. Where no network can be sealed, calls are recorded instead."""
    command = sealing() if mode == "sealed" else []
    mode = mode if command else "recorded"
    done = subprocess.run(
        [*command, sys.executable, "-m", "tests.research.web.vectors", mode],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
        capture_output=True,
        timeout=90,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("mode", ["sealed", "recorded"])
class TestGuard:
    def test_nothing_is_sent_to_any_address_but_the_public_one(self, mode: str) -> None:
        result = asked(mode)
        assert result["control"] == "fine"
        assert result["reached"] == [result["public"]]
        # … and it would have been seen:
        assert result["unguarded"] in (["10.0.0.5"], ["127.0.0.1"])

    def test_each_address_is_refused_with_its_code(self, mode: str) -> None:
        refused = asked(mode)["refused"]
        assert len(refused) == len(PLAIN) + len(REDIRECTS) >= 34
        for url, code in refused.items():
            expected = "bad_url" if url in BAD_URLS else "blocked_address"
            assert code == ("redirect" if url in ENDLESS else expected), url

    def test_what_a_page_says_of_another_place_is_not_followed(self, mode: str) -> None:
        stayed = asked(mode)["stayed"]
        assert list(stayed) == NOT_FOLLOWED
        assert stayed["/refresh-header"] == "stay"
        assert "refresh" in stayed["/refresh-meta"] and "base" in stayed["/base"]

    def test_a_name_is_looked_up_once_and_its_next_answer_is_checked_again(self, mode: str) -> None:
        assert asked(mode)["rebound"] == ["fine", 1, "blocked_address"]

    def test_no_cookie_no_password_and_no_proxy_of_the_environment(self, mode: str) -> None:
        keys = asked(mode)["keys"]
        assert keys.pop("host").startswith("public.test")
        assert set(keys) == {"user-agent", "accept-encoding", "accept", "connection"}
