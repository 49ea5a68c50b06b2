"""The sandbox: a call gets its arguments and gives its value, and can do no other harm."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from research.library.unreadable import Unreadable
from research.sandbox import Limits, SandboxError, acall, call, calls
from tests.fakes.web import FakeWeb
from tests.rig.memory import Growth

from .sandbox_calls import Pair

ROOT = Path(__file__).resolve().parents[2]
HERE = "tests.research.sandbox_calls"
SHORT = Limits(wall_s=0.5)


@pytest.fixture(autouse=True, scope="module")
def keepers_end_with_the_tests() -> Iterator[None]:
    yield
    calls._pool().close()


def code_of(name: str, *args: Any, limits: Limits = calls.DEFAULT, returns: Any = Any) -> str:
    with pytest.raises(SandboxError) as caught:
        call(f"{HERE}:{name}", *args, limits=limits, returns=returns)
    assert caught.value.message.endswith(".")
    return caught.value.code


def works() -> bool:
    pair = Pair("a", (1, 2), b"\x00\xff")
    made = call(f"{HERE}:echo", pair, [pair, pair], returns=Pair)
    return bool(made == Pair("aa", (1, 2, 2, 2), b"\x00\xff"))


def test_values_come_and_go_as_what_they_are() -> None:
    assert works()


def test_every_call_is_a_process_of_its_own_of_a_keeper_that_stays() -> None:
    made = [call(f"{HERE}:process", returns=tuple[int, int]) for _ in range(5)]
    assert len({pid for pid, _ in made}) == 5
    assert len({keeper for _, keeper in made}) == 1
    assert os.getpid() not in {number for pair in made for number in pair}


def test_nothing_of_a_call_is_left_for_the_next() -> None:
    assert call(f"{HERE}:remember", "one", returns=list[str]) == ["one"]
    assert call(f"{HERE}:remember", "two", returns=list[str]) == ["two"]


def test_a_warm_call_takes_milliseconds() -> None:
    works()
    began = time.monotonic()
    for _ in range(10):
        works()
    assert (time.monotonic() - began) / 10 < 0.1


@pytest.mark.parametrize(
    ("name", "args", "limits", "code"),
    [
        ("sleep", (60,), SHORT, "too_slow"),
        ("compute", (), SHORT, "too_slow"),
        ("compute", (), Limits(cpu_s=1), "too_slow"),
        ("eat", (2_000_000_000,), Limits(memory_bytes=300_000_000), "too_large"),
        ("large", (2_000_000,), Limits(result_bytes=1_000_000), "too_large"),
        ("unnamed", (), calls.DEFAULT, "broken"),
        ("recurse", (0,), calls.DEFAULT, "broken"),
        ("leave", (0,), calls.DEFAULT, "broken"),
        ("leave", (3,), calls.DEFAULT, "broken"),
        ("crash", (), calls.DEFAULT, "broken"),
        ("abort", (), calls.DEFAULT, "broken"),
        ("no_such_function", (), calls.DEFAULT, "broken"),
        ("close_and_stay", (), SHORT, "too_slow"),
        ("kill_the_keeper", (), calls.DEFAULT, "broken"),
    ],
)
def test_what_goes_wrong_has_a_code_and_the_next_call_works(
    name: str, args: tuple[Any, ...], limits: Limits, code: str
) -> None:
    began = time.monotonic()
    assert code_of(name, *args, limits=limits) == code
    assert time.monotonic() - began < 10
    assert works()


def test_a_module_that_is_not_there_is_told_as_broken() -> None:
    with pytest.raises(SandboxError) as caught:
        call("no.such.module:function", returns=None)
    assert caught.value.code == "broken"
    assert works()


def test_a_value_of_another_type_than_expected_is_broken() -> None:
    with pytest.raises(SandboxError) as caught:
        call(f"{HERE}:process", returns=Pair)
    assert caught.value.code == "broken"


def test_what_a_page_made_a_parser_say_stays_out_of_what_a_person_reads() -> None:
    with pytest.raises(SandboxError) as caught:
        call(f"{HERE}:unnamed", returns=None)
    assert "secret" not in str(caught.value)


def test_an_exception_with_a_name_comes_back_as_itself() -> None:
    with pytest.raises(Unreadable) as caught:
        call(f"{HERE}:unreadable", "too_long", returns=None)
    assert (caught.value.code, caught.value.detail) == ("too_long", "12")
    assert str(caught.value) == "It has more than 12 pages. Split it."


def test_the_limit_of_memory_is_for_the_call_and_this_process_stays_flat() -> None:
    with Growth() as growth:
        assert code_of("eat", 5_000_000_000, limits=Limits(memory_bytes=300_000_000)) == "too_large"
    assert growth.bytes < 20_000_000
    assert call(f"{HERE}:eat", 200_000_000, returns=int) == 20


def test_output_goes_nowhere_and_the_input_is_empty() -> None:
    assert call(f"{HERE}:chatter", returns=str) == ""


def test_what_a_call_leaves_behind_ends_with_it() -> None:
    began = time.monotonic()
    assert code_of("hold_the_pipe", limits=SHORT) == "too_slow"
    assert time.monotonic() - began < 5
    assert works()


def test_a_call_sees_no_key_and_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "DATABASE_URL", "SECRET_KEY", "SOUNDINGS_PASSWORD"):
        monkeypatch.setenv(name, "canary-123")
    calls._pool().close()
    seen = call(f"{HERE}:environment", returns=dict[str, str])
    assert "canary-123" not in seen.values()
    assert "DJANGO_SETTINGS_MODULE" not in seen


def test_a_call_has_no_file_of_the_server_open() -> None:
    with open(ROOT / "README.md"):
        calls._pool().close()
        links = call(f"{HERE}:descriptors", returns=list[str])
    assert not any("README" in link or "sqlite" in link for link in links)
    assert sum(link.startswith("socket:") for link in links) == 0


def test_a_call_has_no_network() -> None:
    with FakeWeb() as web:
        if _may_unshare():
            assert call(f"{HERE}:connect", web.address, web.port, returns=str) != "connected"
            assert web.connections == 0
        else:
            assert call(f"{HERE}:connect", web.address, web.port, returns=str)


def _may_unshare() -> bool:
    tries = (["unshare", "-n", "true"], ["unshare", "-r", "-n", "true"])
    return any(subprocess.run(each, capture_output=True).returncode == 0 for each in tries)


def test_a_call_can_write_no_file(tmp_path: Path) -> None:
    assert call(f"{HERE}:write", str(tmp_path / "x"), returns=str) == "OSError"
    assert (tmp_path / "x").read_bytes() == b""


async def test_calls_from_coroutines_run_side_by_side_and_stop_no_other() -> None:
    await acall(f"{HERE}:sleep", 0, returns=None)
    gaps = 0.0

    async def beat() -> None:
        nonlocal gaps
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.005)
            gaps, last = max(gaps, time.monotonic() - last), time.monotonic()

    heart = asyncio.create_task(beat())
    began = time.monotonic()
    await asyncio.gather(*(acall(f"{HERE}:sleep", 0.5, returns=None) for _ in range(4)))
    heart.cancel()
    assert time.monotonic() - began < 1.8  # two at once
    assert gaps < 0.3


async def test_who_goes_away_is_not_waited_for() -> None:
    task = asyncio.create_task(acall(f"{HERE}:sleep", 3, limits=Limits(wall_s=1), returns=None))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_keepers_end_with_the_process_that_made_them() -> None:
    program = (
        "from research import sandbox\n"
        f"pid, keeper = sandbox.call('{HERE}:process', returns=tuple[int, int])\n"
        "print(keeper, flush=True)\n"
        "import time; time.sleep(60)\n"
    )
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    server = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True
    )
    with server:
        assert server.stdout
        keeper = int(server.stdout.readline())
        os.kill(keeper, 0)
        server.send_signal(signal.SIGKILL)
    for _ in range(100):
        if not Path(f"/proc/{keeper}").exists() or _is_zombie(keeper):
            return
        time.sleep(0.05)
    raise AssertionError("The keeper is still there.")


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_keeper_that_speaks_nonsense_is_lost_and_another_takes_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("research.sandbox.keeper.wire.receive", lambda socket: b"\xc1nonsense")
        assert code_of("echo", Pair("a", (), b""), []) == "broken"
    assert works()
