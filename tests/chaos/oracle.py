"""The oracle: what the database of a server holds of a run, and whether that is whole."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from typing import Any
from uuid import UUID

import psycopg

from research.team.prompts import plan_prompt, task_prompt
from streaming.events import TERMINAL, decode
from streaming.open_set import open_set
from tests.rig.server import Server

from .watcher import Event, Watcher


class Oracle:
    """Reads the database of a server, whether it runs or not."""

    def __init__(self, server: Server, run: str) -> None:
        self.server = server
        self.run = UUID(run)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query in which `?` is the run."""
        if url := self.server.env["DATABASE_URL"]:
            with psycopg.connect(url) as postgres:
                return postgres.execute(sql.replace("?", "%s").encode(), [self.run]).fetchall()
        path = self.server.data_dir / "soundings.sqlite3"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as lite:
            return lite.execute(sql, [self.run.hex]).fetchall()

    def log(self) -> list[Event]:
        """Return the log."""
        rows = self.rows("SELECT text FROM streaming_eventrow WHERE stream_id = ? ORDER BY seq")
        return [json.loads(text) for (text,) in rows]

    def done(self) -> set[str]:
        """Return the works that have ended well."""
        return {
            event["work"]
            for event in self.log()
            if event["type"] == "work.finished" and event["data"]["status"] == "completed"
        }

    def check(self, *watchers: Watcher, status: str = "completed") -> list[Event]:
        """Fail unless the run ended so, whole, and every watcher has exactly its log."""
        log = self.log()
        events = [decode(json.dumps(event)) for event in log]
        assert [event["seq"] for event in log] == list(range(1, len(log) + 1))
        ends = [event["type"] for event in log if event["type"] in TERMINAL]
        assert ends == [log[-1]["type"]] == [f"run.{status}"]
        assert not open_set(events)
        tools = [event["data"]["tool_call_id"] for event in log if event["type"] == "tool.started"]
        ended = [event["data"]["tool_call_id"] for event in log if event["type"] == "tool.finished"]
        assert sorted(tools) == sorted(ended)
        assert self.rows("SELECT status FROM research_run WHERE stream_id = ?") == [(status,)]
        works = self.rows("SELECT name, status FROM research_work WHERE run_id = ?")
        assert {state for _, state in works} <= {"completed", "failed", "cancelled"}
        self._check_void(log)
        for watcher in watchers:
            assert watcher.events == log
            assert (watcher.status, watcher.gaps) == (status, [])
        return log

    def _check_void(self, log: list[Event]) -> None:
        """Fail where a row is left of an attempt that was discarded."""
        void = {
            (event["data"]["work"], event["data"]["attempt"])
            for event in log
            if event["type"] == "attempt.discarded"
        }
        for table in ("note", "toolcall"):
            rows = self.rows(f"SELECT work, attempt FROM research_{table} WHERE run_id = ?")
            assert not void & set(rows), table
        for (finders,) in self.rows("SELECT finders FROM research_source WHERE run_id = ?"):
            found = json.loads(finders) if isinstance(finders, str) else finders
            assert found
            assert not void & {tuple(finder) for finder in found}
        numbers = self.rows("SELECT number FROM research_citation WHERE run_id = ? ORDER BY number")
        assert len({number for (number,) in numbers}) == len(numbers)


def prompt_of(log: list[Event], work: str) -> str:
    """Return how the file of calls names the prompt of a plan or a task."""
    asked = log[0]["data"]
    if work == "plan":
        prompt = plan_prompt(asked["topic"], asked["language"])
    else:
        planned = next(event for event in log if event["type"] == "plan.proposed")
        number = int(work.partition(":")[2])
        task = next(task for task in planned["data"]["tasks"] if task["task_id"] == number)
        prompt = task_prompt(
            asked["topic"], asked["language"], number, task["title"], task["intent"], task["query"]
        )
    return hashlib.sha256(prompt.encode()).hexdigest()[:16]
