from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena_core.errors import LeaseError
from orchestrator.operations.command_lock import command_lock

_HOLDER = """
import asyncio, sys
from orchestrator.operations.command_lock import command_lock
sys.argv = ["ARGV0", "reset", "shop"]
async def hold():
    async with command_lock("up", print):
        print("mine", flush=True)
        await asyncio.Event().wait()
asyncio.run(hold())
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@contextmanager
def another_process(program: str = "/usr/bin/arena") -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER.replace("ARGV0", program)],
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "mine\n"
        yield holder
        holder.kill()


async def test_a_process_that_holds_the_turn_too_long_is_named() -> None:
    said: list[str] = []
    with another_process() as holder:
        with pytest.raises(LeaseError, match=f"`arena reset shop` .process {holder.pid}."):
            async with command_lock("up", said.append, wait_s=0.1):
                pass
        async with command_lock("another", said.append, wait_s=0.1):
            pass
    assert said == [
        f"`arena reset shop` (process {holder.pid}) is at work on these sites; waiting for it"
    ]


@pytest.mark.parametrize(("program", "name"), [("my/study.py", "study.py"), ("-c", "python")])
async def test_a_program_that_calls_the_api_is_named_without_its_words(
    program: str, name: str
) -> None:
    said: list[str] = []
    with another_process(program) as holder, pytest.raises(LeaseError):
        async with command_lock("up", said.append, wait_s=0.1):
            pass
    assert said == [f"`{name}` (process {holder.pid}) is at work on these sites; waiting for it"]


async def test_the_turn_of_a_process_that_is_killed_goes_to_the_one_that_waits() -> None:
    with another_process() as holder:
        async with asyncio.timeout(20), command_lock("up", lambda _: holder.kill()):
            pass


async def test_who_does_not_insist_works_without_the_lock_and_does_not_take_it_later() -> None:
    said: list[str] = []
    with another_process():
        async with command_lock("up", said.append, wait_s=0.1, insist=False):
            pass
    assert len(said) == 1
    # The thread that waited may have the lock for a moment, until it sees that nobody wants it.
    async with asyncio.timeout(20), command_lock("up", lambda _: None):
        pass


async def test_where_nothing_can_be_locked_the_work_continues_and_says_so(cache: Path) -> None:
    (cache / "arena").write_text("no folder")
    said: list[str] = []
    async with command_lock("up", said.append):
        pass
    [line] = said
    assert "cannot be locked" in line
