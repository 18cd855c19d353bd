"""Runs of many episodes: how long it takes to score them, and to export them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.figures import Figure, Series, beside, taken_at_most, with_cpu
from bench.machine import Taken, taken_by
from bench.scoring import long_evidence

from arena_core.worlds import World
from orchestrator import Arena
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.lock import HostEnvelope, RunLock, hash_suite
from orchestrator.runs.store.run_folder import RunFolder
from tasks.loader import load_source
from tasks.schema import Suite

_ARENA: Final = Path(sys.executable).with_name("arena")
_EPISODES: Final = 1000
_TASKS: Final = 10
_SIZES: Final = (100_000, 200_000, 400_000, 800_000)
_SHORT: Final = (5_000, 10_000, 20_000)
_SCORE_S: Final = 15
_EXPORTED_A_SECOND: Final = 500
_ROUNDS: Final = 3


def scored_run_figures() -> list[Figure]:
    """Score a run of 1,000 episodes of 100 to 800 KB, as `arena score` does."""
    with TemporaryDirectory(prefix="arena-bench-") as made:
        run = make_long_run(Path(made) / "run", _EPISODES)
        command = (_ARENA, "score", run.path, "--json")
        taken = [taken_by(command)[0] for _ in range(_ROUNDS)]
        alone = [taken_by((*command, "--processes", "1"))[0] for _ in range(_ROUNDS)]
    what = f"arena score of {_EPISODES} episodes, s"
    return [
        taken_at_most(f"{what} (reference: its goal)", taken, _SCORE_S),
        with_cpu(
            beside(f"{what} (reference: in one process)", _seconds(taken), _seconds(alone)), taken
        ),
    ]


def export_figures() -> list[Figure]:
    """Export runs of 1,000 episodes to Parquet: as short as the demo's, and 100 to 800 KB."""
    return [
        _export_figure("of 5 to 20 KB", _SHORT, _EXPORTED_A_SECOND),
        _export_figure("of 100 to 800 KB", _SIZES, None),
    ]


def _export_figure(what: str, sizes: Sequence[int], least: int | None) -> Figure:
    with TemporaryDirectory(prefix="arena-bench-") as made:
        folder = make_long_run(Path(made) / "run", _EPISODES, sizes).path
        command = (sys.executable, "-m", "bench.scored_runs", folder, Path(made) / "tables")
        said = [taken_by(command) for _ in range(_ROUNDS)]
    # Its own time: to import pyarrow takes as long as the export.
    taken = [
        Taken(seconds, cpu_s, one.load)
        for one, text in said
        for seconds, cpu_s in [map(float, text.split())]
    ]
    name = f"arena.runs.export to parquet of {_EPISODES} episodes {what}, scoring included, s"
    if least is None:
        return with_cpu(beside(name, _seconds(taken), _seconds(taken)), taken)
    return taken_at_most(f"{name} (reference: its goal)", taken, _EPISODES / least)


def _seconds(taken: Sequence[Taken]) -> Series:
    return Series([one.seconds for one in taken])


def make_long_run(path: Path, episodes: int, sizes: Sequence[int] = _SIZES) -> RunFolder:
    """Write a run folder of so many finished episodes, of these sizes in turn."""
    suite = load_source("demo").suite
    tasks = [task.id for task in suite.tasks if World.OFFLINE in task.worlds][:_TASKS]
    folder = RunFolder.create(path, bench_lock(suite, tasks, -(-episodes // len(tasks))), suite)
    texts = [long_evidence(size).model_dump_json().encode() for size in sizes]
    with folder.writing() as ledger:
        for number in range(episodes):
            key = EpisodeKey(tasks[number % len(tasks)], World.OFFLINE, number // len(tasks))
            attempt = ledger.start(key)
            place = folder.evidence_folder(key.folder(attempt))
            place.mkdir()
            text = texts[number % len(texts)]
            text = text.replace(
                b'"task":"shop-order-chess-set"', b'"task":"%b"' % key.task.encode()
            )
            text = text.replace(b'"repeat":0', b'"repeat":%d' % key.repeat)
            (place / "evidence.json").write_bytes(text)
            ledger.end(key, attempt, AttemptState.FINISHED, "failure")
    return folder


def bench_lock(suite: Suite, tasks: list[str], repeats: int) -> RunLock:
    """Return the lock of a run of so many repeats."""
    return RunLock(
        run="20261001-090000-demo-0001",
        created_at="2026-10-01T09:00:00+00:00",
        suite=suite.suite,
        suite_version=suite.version,
        suite_hash=hash_suite(suite),
        tasks=tuple(tasks),
        worlds=(World.OFFLINE,),
        repeats=repeats,
        attempts=1,
        agent=AgentLock(name="bench", kind="oracle", options={}, agent_class=AgentClass.REFERENCE),
        images={},
        engine="none",
        browser="none",
        packages={},
        host=HostEnvelope(platform="Linux", python="3.11", cpus=2, memory_mb=24000),
    )


def _export(run: Path, out: Path) -> None:
    Arena().runs.export(run, "parquet", out)  # imports what it needs
    began, spent = time.perf_counter(), _cpu_s()
    Arena().runs.export(run, "parquet", out)
    print(time.perf_counter() - began, _cpu_s() - spent)


def _cpu_s() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


if __name__ == "__main__":
    _export(Path(sys.argv[1]), Path(sys.argv[2]))
