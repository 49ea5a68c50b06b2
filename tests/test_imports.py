"""The direction of imports, as `pyproject.toml` writes it down."""

import io
from contextlib import redirect_stdout

from importlinter.cli import lint_imports


def test_imports_go_one_way() -> None:
    with redirect_stdout(io.StringIO()) as said:
        failed = lint_imports(no_cache=True)
    assert not failed, said.getvalue()
