"""The terminal: a run started, watched and cancelled by commands, with and without a server."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.research.conftest import TOPIC
from tests.rig.server import ROOT, Server

from .conftest import Open
from .oracle import Oracle


def command(server: Server, *args: str, **env: str) -> subprocess.Popen[str]:
    """Start a command on a server's data."""
    return subprocess.Popen(
        [sys.executable, "manage.py", *args],
        cwd=ROOT, env=server.env | env, text=True, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@contextmanager
def running(server: Server, *args: str) -> Iterator[subprocess.Popen[str]]:
    """Give a command that runs, and end it with the block."""
    process = command(server, *args)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=10)


def done(server: Server, *args: str, **env: str) -> tuple[int, str, str]:
    """Run a command to its end; return its exit code, its stdout and its stderr."""
    process = command(server, *args, **env)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def newest_run(server: Server) -> str | None:
    """Return the id of the newest run, if there is one."""
    rows = Oracle(server, "0" * 32).rows(
        "SELECT stream_id FROM research_run WHERE stream_id <> ? ORDER BY created_at DESC LIMIT 1"
    )
    return str(rows[0][0]) if rows else None


def oracle_of(server: Server) -> Oracle:
    """Return the oracle of the newest run."""
    run = newest_run(server)
    assert run
    return Oracle(server, run)


def until_log_has(server: Server, type_: str, timeout: float = 20) -> str:
    """Wait until the newest run's log holds an event of this type; return the run."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        run = newest_run(server)
        if run and any(event["type"] == type_ for event in Oracle(server, run).log()):
            return run
        time.sleep(0.05)
    raise AssertionError(f"No {type_} in {timeout} s.")


def test_without_a_server_the_command_carries_the_run_and_prints_its_report(site: Open) -> None:
    here = site(delay=0.0)
    here.server.stop()
    code, out, err = done(here.server, "research", TOPIC, "--user", "ann")
    assert code == 0, err
    assert re.search(r"winds the clock\. ?\[\^3\]", out), out
    assert "[^3]: " in out
    assert "asks: How do lighthouses warn ships" in err
    assert "researcher-1" in err and "Completed" in err
    assert "\x1b" not in out + err
    oracle_of(here.server).check()


def test_beside_a_server_the_server_carries_it_and_the_lines_are_the_log(site: Open) -> None:
    here = site(delay=0.02)
    code, out, err = done(here.server, "research", TOPIC, "--user", "ann", "--json")
    assert (code, err) == (0, "")
    log = oracle_of(here.server).check()
    assert [json.loads(line) for line in out.splitlines()] == log


def test_watch_follows_a_run_that_another_process_carries_from_where_it_is_told(
    site: Open,
) -> None:
    here = site(delay=0.1)
    with running(here.server, "research", TOPIC, "--user", "ann") as started:
        run = until_log_has(here.server, "task.started")
        code, out, err = done(here.server, "watch", run[:8], "--json", "--after", "5")
        assert (code, err) == (0, "")
        assert started.wait(30) == 0
    log = Oracle(here.server, run).check()
    assert [json.loads(line) for line in out.splitlines()] == log[5:]


def test_ctrl_c_cancels_the_run_that_the_command_started(site: Open) -> None:
    here = site(delay=0.5)
    with running(here.server, "research", TOPIC, "--user", "ann") as started:
        run = until_log_has(here.server, "task.started")
        started.send_signal(signal.SIGINT)
        assert started.wait(20) == 4
    Oracle(here.server, run).check(status="cancelled")


def test_leaving_a_watch_leaves_the_run_alone(site: Open) -> None:
    here = site(delay=0.1)
    with running(here.server, "research", TOPIC, "--user", "ann") as started:
        run = until_log_has(here.server, "task.started")
        with running(here.server, "watch", run) as watching:
            assert watching.stderr is not None
            watching.stderr.readline()
            watching.send_signal(signal.SIGINT)
            assert watching.wait(20) == 130
        assert started.wait(30) == 0
    Oracle(here.server, run).check()


def test_a_run_that_fails_says_why_and_exits_with_1(site: Open) -> None:
    here = site(delay=0.0)
    here.server.stop()
    code, out, err = done(
        here.server, "research", TOPIC, "--user", "ann", RESEARCH_MODEL="scripted:/nowhere.json"
    )
    assert (code, out) == (1, "")
    assert "Failed" in err
    assert done(here.server, "watch")[0] == 1


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["research", " ", "--user", "ann"], "empty_topic"),
        (["research", "why", "--user", "nobody"], "no user nobody"),
        (["research", "why", "--user", "ann", "--collection", "none"], "no_collection"),
        (["research", "why", "--user", "ann", "--researchers", "99"], "researchers"),
        (["watch"], "no run yet"),
        (["watch", "xyz"], "not the id"),
        (["watch", "00000000"], "No run begins"),
    ],
)
def test_what_cannot_be_done_is_said_and_exits_with_2(
    serve: object, filled: tuple[object, list[str]], args: list[str], says: str
) -> None:
    data_dir, _ = filled
    server = Server("daphne", data_dir)  # type: ignore[arg-type]
    code, out, err = done(server, *args)
    assert (code, out) == (2, "")
    assert says in err


def test_on_a_terminal_members_have_colours_and_nothing_obeys_the_text(site: Open) -> None:
    here = site(delay=0.05)
    topic = "How do lighthouses warn\x1b]0;owned\x07 ships \x1b[31m\u202enow?"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "research", topic, "--user", "ann"],
        cwd=ROOT, env=here.server.env | {"TERM": "xterm-256color", "COLUMNS": "100"},
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.wait(30) == 0
    text = shown.decode("utf-8")
    assert "\x1b[33mresearcher-1" in text
    assert "tasks 2/2" in text
    assert "\x1b]0;" not in text and "\x1b[31m" not in text and "\u202e" not in text
