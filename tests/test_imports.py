"""The direction of imports, as `pyproject.toml` writes it down."""

import subprocess
import sys

from tests.rig.server import ROOT

LINT = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"


def test_imports_go_one_way() -> None:
    # In a process of its own: it sets logging up anew, and would silence our loggers for good.
    done = subprocess.run(
        [sys.executable, "-c", LINT], cwd=ROOT, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout
