"""A real server in a process of its own: started, frozen, killed, started again on its data."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

import httpx
from websockets.typing import Origin

from .ports import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
Kind = Literal["daphne", "uvicorn"]
KEPT = ("PATH", "HOME", "LANG", "TMPDIR")  # of our own environment; the rest is the test's


class Server:
    """One server with its data directory, its database and its log."""

    def __init__(
        self, kind: Kind, data_dir: Path, *, database_url: str = "", redis_url: str = "", **env: str
    ) -> None:
        self.kind = kind
        self.data_dir = data_dir
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.ws_url = f"ws://127.0.0.1:{self.port}"
        self.origin = Origin(self.url)
        self.log_path = data_dir / f"{kind}-{self.port}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.env = {name: os.environ[name] for name in KEPT if name in os.environ} | {
            "PYTHONUNBUFFERED": "1",
            "LC_MESSAGES": "C",  # commands speak English, whatever is spoken here
            "DATA_DIR": str(data_dir),
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "PORT": str(self.port),
            "SEARCH_PROVIDERS": "library",
            **env,
        }

    def _command(self) -> list[str]:
        where, application = ["--port", str(self.port)], "project.asgi:application"
        if self.kind == "daphne":
            pings = ["--ping-interval", "10", "--ping-timeout", "10", "-v", "0"]
            return ["-m", "daphne", "-b", "127.0.0.1", *where, *pings, application]
        options = ["--ws", "websockets-sansio", "--lifespan", "on", "--no-access-log"]
        options += ["--ws-max-size", "1048576"]  # as much as daphne takes
        return [
            "-m",
            "uvicorn",
            "--host",
            "127.0.0.1",
            *where,
            *options,
            "project.asgi:application",
        ]

    def start(self, timeout: float = 30.0) -> None:
        """Start it and wait until it says that it is ready."""
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self._command()], cwd=ROOT, env=self.env, stdout=log, stderr=log
            )
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"The server ended at once.\n{self.log()}")
            try:
                if httpx.get(f"{self.url}/readyz", timeout=3, trust_env=False).is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"The server was not ready in {timeout} s.\n{self.log()}")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal: SIGSTOP freezes it, SIGCONT lets it go on."""
        assert self.process
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kill it without a chance to tidy up."""
        assert self.process
        self.process.kill()
        self.process.wait(10)

    def stop(self, timeout: float = 35.0) -> int:
        """Ask it to end, and return its exit status."""
        assert self.process
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        return self.process.wait(timeout)

    def close(self) -> None:
        """End it, whatever state it is in."""
        if self.process and self.process.poll() is None:
            self.kill()

    def log(self) -> str:
        """Return what it has logged so far, over all its starts."""
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def manage(self, *args: str, timeout: float = 60.0, **env: str) -> str:
        """Run a management command on its data and return what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *args],
            cwd=ROOT, env=self.env | env, capture_output=True, text=True, timeout=timeout,
        )  # fmt: skip
        assert done.returncode == 0, f"{args}: {done.stdout}{done.stderr}"
        return done.stdout

    def create_user(self, name: str, password: str = "a-long-password", **fields: object) -> None:
        """Create a user of its site."""
        self.manage(
            "shell", "--no-imports", "-v", "0", "-c",
            "from django.contrib.auth.models import User;"
            f"User.objects.create_user({name!r}, password={password!r}, **{fields!r})",
        )  # fmt: skip

    def api_token(self, user: str) -> str:
        """Return a new API token of a user."""
        return self.manage("api_token", user).split()[-1]

    def adopt(self, template: Path) -> None:
        """Begin with a copy of a SQLite file that has its tables."""
        shutil.copyfile(template, self.data_dir / "soundings.sqlite3")
