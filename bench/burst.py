"""Burst: n committed events through writer, hub and one websocket, to a client that grants credit.

The server is pinned to one core and the client to another; beside each product cell stands a bare
socket, in the same run.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import msgspec
from websockets.asyncio.client import connect

from tests.rig.ports import free_port
from tests.rig.server import ROOT, Server

WINDOW = 4096
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cell:
    """What one repetition of one variant measured."""

    events_s: float
    cpu_us: float


class BenchServer(Server):
    """A server process on the first core, with the benchmark's doors."""

    def _command(self) -> list[str]:
        return [part.replace("project.asgi", "bench.app") for part in super()._command()]

    def start(self, timeout: float = 30.0) -> None:
        super().start(timeout)
        assert self.process
        pin(self.process.pid, 0)


def pin(pid: int, core: int) -> None:
    """Keep a process (0: this one) and its threads on one core, where there are two."""
    if (os.cpu_count() or 1) < 2:
        return
    for thread in Path(f"/proc/{pid or os.getpid()}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})


def cpu_s(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


async def product(server: Server, token: str, events: int) -> Cell:
    """Measure one burst of the product; fail unless each event came once and in order."""
    assert server.process
    pid = server.process.pid
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as http:
        run = (await http.post("/bench/run")).json()["run"]
        headers = {"Authorization": f"Bearer {token}"}
        url = f"{server.ws_url}/ws/api/v1/"
        async with connect(url, additional_headers=headers, max_size=None) as socket:
            await socket.recv()
            subscribe = {"type": "subscribe", "id": 1, "sub": "b", "run": run, "window": WINDOW}
            await socket.send(json.dumps(subscribe))
            epoch = json.loads(await socket.recv())["cursor"].partition(":")[0]
            pin(pid, 0)
            cpu = cpu_s(pid)
            began = time.perf_counter()
            await http.post(f"/bench/burst?run={run}&events={events}")
            seq = credited = 0
            while seq < events:
                frame = msgspec.json.decode(await socket.recv())
                if frame["type"] != "events":
                    continue
                assert frame["after"] == seq, "a gap"
                for event in frame["events"]:
                    seq += 1
                    assert event["seq"] == seq, "out of order"
                assert frame["upto"] == seq, "an event is missing"
                if seq - credited >= WINDOW // 4 or seq == events:
                    credit = {"type": "credit", "sub": "b", "cursor": f"{epoch}:{seq}"}
                    await socket.send(json.dumps(credit))
                    credited = seq
            took = time.perf_counter() - began
    return Cell(events / took, (cpu_s(pid) - cpu) / events * 1e6)


async def raw(process: subprocess.Popen[bytes], port: int, events: int) -> Cell:
    """Measure the same number of lines over a bare socket."""
    cpu = cpu_s(process.pid)
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"%d\n" % events)
    for _ in range(events):
        await reader.readline()
    took = time.perf_counter() - began
    writer.close()
    return Cell(events / took, (cpu_s(process.pid) - cpu) / events * 1e6)


def measure(events: int, repetitions: int) -> dict[str, list[Cell]]:
    """Run every variant in turn, so many times."""
    cells: dict[str, list[Cell]] = {"daphne": [], "uvicorn": [], "raw": []}
    port = free_port()
    limit = subprocess.Popen([sys.executable, "-m", "bench.raw", str(port)], cwd=ROOT)
    servers: dict[str, BenchServer] = {}
    pin(0, 1)
    with TemporaryDirectory(prefix="soundings-bench-") as folder:
        try:
            pin(limit.pid, 0)
            tokens = {}
            for kind in ("daphne", "uvicorn"):
                data = Path(folder) / kind
                data.mkdir()
                server = servers[kind] = BenchServer(kind, data)  # type: ignore[arg-type]
                server.manage("migrate", "-v", "0")
                server.create_user("bench")
                tokens[kind] = server.api_token("bench")
                server.start()
            for _ in range(repetitions):
                for kind, server in servers.items():
                    cells[kind].append(asyncio.run(product(server, tokens[kind], events)))
                cells["raw"].append(asyncio.run(raw(limit, port, events)))
        finally:
            limit.kill()
            limit.wait()
            for server in servers.values():
                server.close()
    return cells
