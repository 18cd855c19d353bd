"""What a killed process left is found by the next one, and nobody else's is touched."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK, SLOW

from arena_core.errors import EngineError, LeaseError
from orchestrator.sandbox.command_lock import command_lock, process_owner

_HOLDER = """
import asyncio, sys
from orchestrator.sandbox.command_lock import command_lock
sys.argv = ["ARGV0", "reset", "shop"]
async def hold():
    async with command_lock("up", print, sites=SITES):
        print("mine", flush=True)
        await asyncio.Event().wait()
asyncio.run(hold())
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@contextmanager
def another_process(
    program: str = "/usr/bin/arena", sites: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen[str]]:
    code = _HOLDER.replace("ARGV0", program).replace("SITES", repr(sites))
    with subprocess.Popen(
        [sys.executable, "-c", code],
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


@ONE_QUICK
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


@ONE_QUICK
@pytest.mark.parametrize(
    ("held", "wanted", "is_free"),
    [
        (("shop",), ("wiki",), True),
        (("shop",), ("wiki", "shop"), False),
        (("shop",), (), False),
        ((), ("shop",), False),
    ],
)
async def test_commands_that_name_other_sites_work_side_by_side(
    held: tuple[str, ...], wanted: tuple[str, ...], *, is_free: bool
) -> None:
    said: list[str] = []
    with another_process(sites=held) as holder:
        turn = command_lock("up", said.append, sites=wanted, wait_s=0.1)
        if is_free:
            async with turn:
                pass
        else:
            with pytest.raises(LeaseError, match=f"process {holder.pid}"):
                async with turn:
                    pass
    assert bool(said) is not is_free


KILLED = """
import asyncio, sys
from orchestrator.sandbox.command_lock import process_owner

class Nothing:
    async def sweep(self, owner):
        return ()

async def main():
    async with process_owner(Nothing(), "episodes", print) as owner:
        print(owner, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


class Engine:
    """An engine that notes whose containers it removes."""

    def __init__(self, failure: EngineError | None = None) -> None:
        self.swept: list[str | None] = []
        self.failure = failure

    async def sweep(self, owner: str | None) -> tuple[str, ...]:
        self.swept.append(owner)
        if self.failure is not None:
            raise self.failure
        return (f"arena-shop-{owner}",)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", "unix:///one")


def begin(**environment: str) -> tuple[subprocess.Popen[str], str]:
    """Start a process that owns something, and return it with its owner."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    if process.stdout is not None:
        process.stdout.close()


@SLOW
async def test_what_a_killed_process_left_is_removed_once_and_a_living_one_is_left_alone() -> None:
    dead, dead_owner = begin()
    living, living_owner = begin()
    kill(dead)
    try:
        engine, notes = Engine(), list[str]()
        async with process_owner(engine, "episodes", notes.append) as owner:
            assert engine.swept == [dead_owner]
            assert notes == [f"removed what a killed process left: arena-shop-{dead_owner}"]
        assert engine.swept == [dead_owner, owner]
        assert living_owner not in engine.swept
        async with process_owner(engine, "episodes", notes.append) as another:
            assert another != owner
        assert engine.swept[2:] == [another]
    finally:
        kill(living)


async def test_what_is_on_another_engine_waits_for_a_process_that_uses_it() -> None:
    elsewhere, owner = begin(DOCKER_HOST="unix:///two")
    kill(elsewhere)
    engine = Engine()
    async with process_owner(engine, "episodes", print):
        assert engine.swept == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", "unix:///two")
        async with process_owner(engine, "episodes", print):
            assert owner in engine.swept


async def test_what_cannot_be_removed_now_is_tried_again_by_the_next() -> None:
    dead, dead_owner = begin()
    kill(dead)
    notes: list[str] = []
    async with process_owner(Engine(EngineError("it stalls")), "episodes", notes.append) as owner:
        assert notes == ["what a killed process left cannot be removed now: it stalls"]
    assert notes[1] == f"containers may be left: it stalls; arena down --owner {owner}"
    engine = Engine()
    async with process_owner(engine, "episodes", notes.append):
        assert set(engine.swept) == {dead_owner, owner}


async def test_without_a_cache_folder_it_says_so_and_continues(tmp_path: Path) -> None:
    (tmp_path / "arena").write_text("in the way", encoding="utf-8")
    engine, notes = Engine(), list[str]()
    async with process_owner(engine, "episodes", notes.append) as owner:
        assert "not found again" in notes[0]
    assert engine.swept == [owner]
