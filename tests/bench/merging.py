"""How long it takes to merge four shards of 12,000 episodes, as a user calls it."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.figures import Figure, taken_at_most
from bench.machine import taken_by
from bench.scored_runs import bench_lock
from bench.scoring import long_evidence

from arena_core.worlds import World
from orchestrator.runs.store.ledger import AttemptState
from orchestrator.runs.store.run_folder import RunFolder
from tasks.loader import load_source

_ARENA: Final = Path(sys.executable).with_name("arena")
_TASKS: Final = 12
_REPEATS: Final = 1000
_SHARDS: Final = 4
_PICTURES: Final = {f"step-{number:03}.webp": bytes([number]) * 10_000 for number in range(5)}
_GOAL_S: Final = 30


def merge_figures() -> list[Figure]:
    """Merge 12,000 episodes of 60 KB in six files each."""
    with TemporaryDirectory(prefix="arena-bench-") as made:
        shards = [_shard(Path(made), number) for number in range(1, _SHARDS + 1)]
        taken, _ = taken_by((_ARENA, "merge", *shards, "--into", Path(made) / "whole"))
    what = f"arena merge of {_TASKS * _REPEATS:,} episodes in {_SHARDS} shards, s"
    return [taken_at_most(f"{what} (reference: its goal)", [taken], _GOAL_S)]


def _shard(made: Path, number: int) -> Path:
    suite = load_source("demo").suite
    tasks = [task.id for task in suite.tasks if World.OFFLINE in task.worlds][:_TASKS]
    changes = {"shard": f"{number}/{_SHARDS}", "run": f"20261001-090000-demo-000{number}"}
    lock = bench_lock(suite, tasks, _REPEATS).model_copy(update=changes)
    folder = RunFolder.create(made / str(number), lock, suite)
    evidence = long_evidence(10_000)
    with folder.writing() as ledger:
        for key in lock.trials([task for task in suite.tasks if task.id in tasks]):
            attempt = ledger.start(key)
            own = {"task": key.task, "repeat": key.repeat}
            digest = folder.save_evidence(
                key.folder(attempt), evidence.model_copy(update=own), _PICTURES
            )
            ledger.end(key, attempt, AttemptState.FINISHED, "failure", digest)
    return folder.path
