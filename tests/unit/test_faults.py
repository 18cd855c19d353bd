"""`make faults` finds what it is there to find: whatever may be wrong is named when it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from faults.__main__ import table
from faults.judging import Injected, Row, blamed, files_left, marked, say_what_came, unproven
from faults.scarcity import own_disk
from faults.waiting import PROGRAM, say_waits, waits_in
from support.agents.arena_process import ArenaProcess

_AT = "2026-11-27T08:00:10.000+00:00"


def _row(attempt: int, state: str, outcome: str | None, began: int, ended: int | None) -> Row:
    started = f"2026-11-27T08:00:{began:02}.000+00:00"
    end = None if ended is None else f"2026-11-27T08:00:{ended:02}.000+00:00"
    return "one", "offline", 0, attempt, state, outcome, started, end


def _injected(struck: str | None = "container 1", name: str = "killed") -> Injected:
    return Injected(3, "container", name, _AT, struck)


def test_an_oracle_that_failed_is_blamed_on_the_fault() -> None:
    rows = [
        _row(1, "retried", "infra", 1, 2),
        _row(2, "finished", "success", 3, 4),
        _row(3, "finished", "unscored: infra", 5, 6),
        _row(4, "finished", "failure", 7, 8),
    ]
    assert blamed(rows) == ["('one', 'offline', 0, 4): an oracle's episode is 'failure'"]


def test_a_replica_that_was_handed_out_unproven_is_named(tmp_path: Path) -> None:
    for name, after in (("a", "golden"), ("b", "other")):
        folder = tmp_path / "evidence" / name
        folder.mkdir(parents=True)
        receipt = {"site": "tools", "after": after, "golden": "golden"}
        (folder / "evidence.json").write_text(json.dumps({"receipts": [receipt]}))
    assert list(unproven(tmp_path)) == ["b: began on a replica of tools not proven"]


def test_what_came_of_a_fault_is_told_by_the_attempts_under_way_then() -> None:
    rows = [_row(1, "retried", "infra", 5, 15), _row(2, "finished", "success", 16, 20)]
    met, missed, ended = _injected(), _injected(None), _injected()
    ended.came = "the run ended with 40, and was resumed"
    say_what_came([met, missed, ended], rows)
    assert [met.came, missed.came] == ["1 attempts broke off", "nothing was there"]
    assert ended.came == "the run ended with 40, and was resumed"
    survived = _injected()
    say_what_came([survived], [_row(1, "finished", "success", 5, 15), *rows[1:]])
    assert survived.came == "nothing broke off"


def test_the_table_counts_each_kind_and_what_is_wrong() -> None:
    injected = [
        {"area": "container", "name": "killed", "struck": "x", "came": "2 attempts broke off"},
        {"area": "container", "name": "killed", "struck": "x", "came": "nothing broke off"},
        {"area": "driver", "name": "killed", "struck": "x", "came": "… and was resumed"},
        {"area": "driver", "name": "killed", "struck": None, "came": "nothing was there"},
    ]
    run = {"injected": injected, "wrong": ["lost"], "trials": 4, "attempts": 6}
    lines = [line.split() for line in table([run]).splitlines()]
    assert ["container:", "killed", "2", "1", "0", "1", "0"] in lines
    assert ["driver:", "killed", "1", "0", "1", "0", "1"] in lines
    assert ["all", "3", "1", "1", "1", "1"] in lines
    assert lines[-1] == ["1", "runs,", "4", "trials,", "6", "attempts,", "1", "wrong"]


def test_a_process_and_a_file_that_are_left_are_found(tmp_path: Path) -> None:
    (tmp_path / f"arena-{os.getuid()}").mkdir()
    (tmp_path / "playwright-artifacts-x").mkdir()
    assert files_left(tmp_path) == []
    (tmp_path / "arena-browser-x").mkdir()
    (tmp_path / f"arena-{os.getuid()}" / "socket").touch()
    assert sorted(files_left(tmp_path)) == ["arena-browser-x", "socket"]
    words = (sys.executable, "-c", "input()")
    env = {"ARENA_FAULTS_OF": "this test's"}
    with subprocess.Popen(words, stdin=subprocess.PIPE, env=env) as process:
        assert len(marked("ARENA_FAULTS_OF=this test's")) == 1
        process.communicate(b"\n")
    assert marked("ARENA_FAULTS_OF=this test's") == []


def test_the_files_of_a_run_whose_judge_failed_are_kept(tmp_path: Path) -> None:
    """They lie on a disk in memory, which goes."""
    run = tmp_path / "run"

    def fail() -> None:
        with own_disk(run, kept=lambda: False) as disk:
            if not disk.is_own:
                pytest.skip("nothing can be mounted here")
            (run / "ledger.sqlite").write_text("trials")
            raise TimeoutError

    with pytest.raises(TimeoutError):
        fail()
    assert (run / "ledger.sqlite").read_text() == "trials"
    assert not run.is_mount()


_WAITS_FOR_EVER = """
import asyncio, contextlib
@contextlib.asynccontextmanager
async def opened():
    asyncio.get_running_loop().call_soon(lambda: print("begins", flush=True))  # once it waits
    await asyncio.Event().wait()  # without end
    yield
async def leg():
    async with opened():
        pass
def main():
    asyncio.run(leg())
"""


def test_a_start_that_hangs_says_what_it_waits_for(tmp_path: Path) -> None:
    program = tmp_path / "orchestrator" / "cli" / "entry.py"
    program.parent.mkdir(parents=True)
    program.write_text(_WAITS_FOR_EVER)
    for package in program.parents[:2]:
        (package / "__init__.py").touch()
    waits = tmp_path / "waits"
    env = {"PYTHONPATH": str(tmp_path), **waits_in(waits)}
    with ArenaProcess(cwd=tmp_path, env=env, program=PROGRAM) as process:
        process.printed("begins")
        say_waits(process, waits)
    line = 1 + _WAITS_FOR_EVER.splitlines().index("    await asyncio.Event().wait()  # without end")
    assert f"{program} {line}\n" in waits.read_text()
