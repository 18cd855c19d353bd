"""The driver of a run with simulated workers: real queue, ledger, journal, evidence, scores, log.

A worker waits as long as a recorded episode took, and hands in evidence as that left it. There is
no browser, no replica and no model: what is measured is what one process does for all of them.

``python -m bench.simulated FOLDER WORKERS EPISODES A_SECOND`` plays one run and prints a line.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Final, Self, cast
from unittest.mock import patch

from bench.figures import Figure, Series, at_most, taken_at_most
from bench.machine import Taken, taken_by
from bench.scored_runs import bench_lock
from bench.scoring import long_evidence
from support.runs.ledger_check import ledger_faults

from arena_core.worlds import World
from evaluators.evidence import Evidence
from evaluators.verdicts import OutcomeKind
from orchestrator.runs.agent_choice import choose_agent
from orchestrator.runs.attempts import FaultSpree
from orchestrator.runs.events import RunEvent
from orchestrator.runs.jobs import Job
from orchestrator.runs.request import RunRequest
from orchestrator.runs.run import HowEnded, Run
from orchestrator.runs.spec import RunSettings
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.scoring import score_task
from orchestrator.runs.worker import Worker
from sites.registry import load_registry
from sites.upstreams import Upstreams
from tasks.loader import load_source

_TASKS: Final = 12
_EVIDENCE: Final = 10_000  # bytes
UNSCORED: Final = OutcomeKind.UNSCORED
_WORKERS: Final = 1000
_EPISODES: Final = 12_000
_LEAST: Final = 200  # episodes a second
_RESUME_S: Final = 3
# Seconds of the demo's episodes offline, by the reference agent, on two busy cores.
_RECORDED_S: Final = (3.5, 14.8, 3.9, 16.5, 29.4, 6.0, 8.4, 7.3, 16.0, 7.4, 44.2, 9.7, 82.8, 39.3)
_PICTURES: Final = {f"step-{number:03}.webp": bytes([number]) * 10_000 for number in range(5)}


@dataclass(frozen=True, slots=True)
class SimulatedAttempt:
    """What an episode left behind that nobody played."""

    _evidence: Evidence
    files: Mapping[str, bytes]
    interrupted: bool = False

    def evidence(self) -> Evidence:
        return self._evidence


@dataclass(slots=True)
class SimulatedWorker:
    """Waits as long as an episode took, and keeps how much longer the driver made it wait."""

    seconds: Iterator[float]
    evidence: Evidence
    behind_s: list[float]
    spree: FaultSpree = field(default_factory=FaultSpree)

    def in_browser_of(self, _: object) -> Self:
        return self

    def until(self, _: object) -> Self:
        return self

    async def play(self, job: Job) -> None:
        own = {"task": job.key.task, "repeat": job.key.repeat}
        began, takes = time.monotonic(), next(self.seconds)

        async def attempt(number: int) -> SimulatedAttempt:
            await asyncio.sleep(takes)
            left = self.evidence.model_copy(update={**own, "attempt": number})
            return SimulatedAttempt(left, _PICTURES)

        keeper: Any = job.run.attempt_runner
        await keeper.play(job.key, job.task, attempt, self.spree)
        self.behind_s.append(time.monotonic() - began - takes)


class SimulatedRun(Run):
    """A run whose worlds have workers and nothing else."""

    @asynccontextmanager
    async def _open(self, world: World, *_: object) -> AsyncIterator[Any]:
        yield SimpleNamespace(upstreams=Upstreams(world, {}), slot_pool=None, starts=None)


async def _no_budget(*_: object) -> Mapping[World, int | None]:
    return {}


async def _nothing_swept(_: object) -> tuple[str, ...]:
    return ()


async def play_simulated(folder: RunFolder, request: RunRequest, a_second: float) -> list[float]:
    """Play a run, and return by how much each episode took longer than its own time.

    Args:
        folder: of the run.
        request: what is played.
        a_second: how many episodes all workers together end a second; 0 for as many as can be.
    """
    mean_s = request.settings.workers_at_first / a_second if a_second else 0.0
    seconds = cycle([one * mean_s / mean(_RECORDED_S) for one in _RECORDED_S])
    behind_s: list[float] = []
    evidence = long_evidence(_EVIDENCE)

    @asynccontextmanager
    async def worker(*_: object) -> AsyncIterator[SimulatedWorker]:
        yield SimulatedWorker(seconds, evidence, behind_s)

    def seen(_: RunEvent) -> None:
        pass

    run = SimulatedRun.of(
        request,
        folder,
        owner="simulated",
        registry=load_registry(()),
        engine=cast("Any", SimpleNamespace(sweep=_nothing_swept)),
        on_event=seen,
        interrupted=asyncio.Event(),
    )
    with (
        patch("orchestrator.runs.run.share_budget", _no_budget),
        patch.object(Worker, "of", worker),
    ):
        assert await run.play() is HowEnded.DONE
    return behind_s


def make_request(path: Path, workers: int, episodes: int) -> tuple[RunFolder, RunRequest]:
    """Make the folder of a run of so many episodes, of which none is played."""
    suite = load_source("demo").suite
    evidence = long_evidence(_EVIDENCE)
    tasks = [task for task in suite.tasks if World.OFFLINE in task.worlds]
    # The evidence says of the others too little to score them.
    scored = [task for task in tasks if score_task(task, evidence).outcome.kind is not UNSCORED]
    tasks = scored[:_TASKS]
    repeats = -(-episodes // len(tasks))
    lock = bench_lock(suite, [task.id for task in tasks], repeats)
    agent = choose_agent("oracle", {})
    settings = RunSettings.of(worlds=(World.OFFLINE,), repeats=repeats, workers=workers, attempts=1)
    request = RunRequest(
        suite=suite, tasks=tuple(tasks), agent=agent.maker, agent_lock=agent.lock, settings=settings
    )
    return RunFolder.create(path, lock, suite), request


def simulated_figures() -> list[Figure]:
    """Play 12,000 episodes by 1,000 workers at the goal's pace, and as fast as can be; resume."""
    with TemporaryDirectory(prefix="arena-bench-") as made:
        paced, paced_taken = _play(Path(made) / "paced", _LEAST)
        fast, fast_taken = _play(Path(made) / "fast", 0)
        resumed, resumed_taken = _play(Path(made) / "fast", 0)
    what = f"driver with {_WORKERS:,} simulated workers, {_EPISODES:,} episodes"
    return [
        _rate(f"{what}, {_LEAST} a second asked, episodes/s", paced, 0.97 * _LEAST),
        at_most(f"{what}, {_LEAST} a second asked, s behind", Series([paced["behind_s"]]), 1, "s"),
        _cpu(f"{what}, its CPU at {_LEAST} a second, cores", paced, paced_taken),
        _rate(f"{what}, as fast as can be, episodes/s", fast, _LEAST),
        at_most(f"{what}, memory, MiB", Series([fast_taken.mib]), 1000, "MiB"),
        taken_at_most(
            f"resume of {_EPISODES:,} finished trials, s (reference: its goal)",
            [Taken(resumed["seconds"], resumed_taken.cpu_s, resumed_taken.load)],
            _RESUME_S,
        ),
    ]


def _play(folder: Path, a_second: int) -> tuple[dict[str, float], Taken]:
    asked = [str(one) for one in (_WORKERS, _EPISODES, a_second)]
    taken, said = taken_by((sys.executable, "-m", "bench.simulated", folder, *asked))
    found: dict[str, float] = json.loads(said.splitlines()[-1])
    return found, taken


def _rate(name: str, found: Mapping[str, float], least: float) -> Figure:
    rate = found["episodes"] / found["seconds"]
    goal = f">= {least:g} a second; {found['writes_a_second']:.0f} ledger writes a second"
    return Figure(name, rate, least, rate / least, goal, met=rate >= least, cpu_s=found["cpu_s"])


def _cpu(name: str, found: Mapping[str, float], taken: Taken) -> Figure:
    cores = found["cpu_s"] / found["seconds"]
    return Figure(name, cores, 1.0, cores, "<= 1: it is one thread", cores <= 1, load=taken.load)


def _main(words: Iterable[str]) -> None:
    folder, workers, episodes, a_second = words
    path = Path(folder)
    is_new = not path.exists()
    beside = path if is_new else path.with_name("request")
    run, request = make_request(beside, int(workers), int(episodes))
    if not is_new:
        run = RunFolder.open(path)
    began, spent, before = time.monotonic(), _cpu_s(), _entries(run)
    behind_s = asyncio.run(play_simulated(run, request, float(a_second)))
    seconds = time.monotonic() - began
    assert not is_new or not ledger_faults([path])
    print(
        json.dumps(
            {
                "episodes": len(behind_s),
                "seconds": seconds,
                "cpu_s": _cpu_s() - spent,
                "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "writes_a_second": (_entries(run) - before) / seconds,
                "behind_s": mean(behind_s) if behind_s else 0.0,
                "worst_behind_s": max(behind_s, default=0.0),
            }
        )
    )


def _entries(run: RunFolder) -> int:
    """Return how many entries the journal has: one for each write of the ledger."""
    if not run.ledger_path.exists():
        return 0
    with closing(sqlite3.connect(run.ledger_path)) as ledger:
        [[count]] = ledger.execute("SELECT count(*) FROM entry").fetchall()
    return int(count)


def _cpu_s() -> float:
    used = os.times()
    return used.user + used.system


if __name__ == "__main__":
    _main(sys.argv[1:])
