"""What a killed process left is found by the next one, and nobody else's is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena_core.errors import EngineError
from orchestrator.operations.owners import process_owner

KILLED = """
import asyncio, sys
from orchestrator.operations.owners import process_owner

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
