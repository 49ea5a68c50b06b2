"""The README is true: its example runs."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.conftest import Serve
from tests.rig.server import ROOT

README = (ROOT / "README.md").read_text()


def test_the_example_starts_a_run_and_prints_its_events(serve: Serve) -> None:
    server = serve()
    server.create_user("admin")
    (example,) = re.findall(r"```python\n(.+?)```", README, re.DOTALL)
    code = example.replace("ws://127.0.0.1:8000", server.ws_url)
    code = code.replace("snd_…", server.api_token("admin"))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [int(line[0]) for line in lines] == list(range(1, len(lines) + 1))
    assert lines[0][1] == "run.started"
    assert lines[-1][1] == "run.completed"


def test_what_it_links_to_exists() -> None:
    links = re.findall(r"\]\(([^)h][^)]*)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
