"""The scripts of `docs/scaling.md` ask for every shard once, and go on with what was begun."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runs.sharded_scripts import SCHEDULERS, run, started, write_scripts


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_each_scheduler_starts_every_shard_and_goes_on_with_it(
    tmp_path: Path, scheduler: str
) -> None:
    write_scripts(tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    arena = programs / "arena"
    arena.write_text('#!/bin/bash\necho "$@"\nmkdir -p "${@: -1}" && touch "${@: -1}/lock.json"\n')
    arena.chmod(0o755)
    first = [run(*started(scheduler, number), tmp_path, programs) for number in range(1, 5)]
    assert first == [
        f"eval --config run.yaml --shard {number}/4 --out shards/{number}\n"
        for number in range(1, 5)
    ]
    assert run(*started(scheduler, 3), tmp_path, programs) == (
        "eval --resume shards/3 --shard 3/4\n"
    )
