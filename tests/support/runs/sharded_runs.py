"""Shards of a run, played by nobody: real locks, ledgers, journals and evidence, and no browser."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from arena_core.actions import Stop
from arena_core.worlds import World
from evaluators.evidence import Ended, EpisodeFault, Evidence, StepEvidence, UnscoredReason
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.lock import HostEnvelope, RunLock, hash_suite
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.scoring import score_task
from support.runs.small_runs import RIGHT, small_suite

TASKS: Final = ("kettle", "lamp", "stool", "rug", "vase")
SUITE: Final = small_suite(TASKS)
_OF: Final = {task.id: task for task in SUITE.tasks}


def lock_of(shard: str | None, **changes: Any) -> RunLock:
    """Return the lock of a shard, or of the whole run."""
    named = "whole" if shard is None else shard.replace("/", "of")
    lock = RunLock(
        run=f"20261126-100000-small-{named}",
        created_at="2026-11-26T10:00:00+00:00",
        suite=SUITE.suite,
        suite_version=SUITE.version,
        suite_hash=hash_suite(SUITE),
        tasks=TASKS,
        repeats=3,
        attempts=2,
        shard=shard,
        agent=AgentLock(name="a", kind="a", options={}, agent_class=AgentClass.CONTESTANT),
        images={"arena/shop:1": "sha256:" + "ab" * 32},
        engine="20.10.24",
        browser="131.0.6778.85",
        packages={"playwright": "1.48"},
        host=HostEnvelope(platform="Linux", python="3.11", cpus=2, memory_mb=24000),
    )
    return lock.model_copy(update=changes)


def trials(lock: RunLock) -> list[EpisodeKey]:
    """Return what a run plays."""
    return list(lock.trials(SUITE.tasks))


def play_run(
    path: Path,
    shard: str | None,
    *,
    only: Iterable[EpisodeKey] | None = None,
    **changes: Any,
) -> RunFolder:
    """Write a shard's folder, or the whole run's, with every trial of it or with some alone.

    What becomes of a trial depends on it alone: some are right, some wrong, some break off once.
    """
    lock = lock_of(shard, **changes)
    folder = RunFolder.create(path, lock, SUITE)
    (path / "arena.log").write_text(f'{{"of": "{shard}"}}\n')
    with folder.writing() as ledger:
        for key in trials(lock) if only is None else only:
            number = ledger.start(key)
            if _number(key) % 5 == 0:
                broken = _evidence(key, number, fault="the browser died")
                digest = folder.save_evidence(key.folder(number), broken, {})
                ledger.end(key, number, AttemptState.RETRIED, "infra", digest)
                number = ledger.start(key)
            evidence = _evidence(key, number)
            files = {"step-000.webp": b"picture of " + key.name.encode()}
            digest = folder.save_evidence(key.folder(number), evidence, files)
            outcome = str(score_task(_OF[key.task], evidence).outcome)
            ledger.end(key, number, AttemptState.FINISHED, outcome, digest)
    return folder


def play_shards(root: Path, count: int, **changes: Any) -> list[Path]:
    """Write all shards of a run, and return their folders."""
    return [
        play_run(root / f"shard-{number}", f"{number}/{count}", **changes).path
        for number in range(1, count + 1)
    ]


def _number(key: EpisodeKey) -> int:
    return TASKS.index(key.task) * 3 + key.repeat


def _evidence(key: EpisodeKey, attempt: int, fault: str | None = None) -> Evidence:
    answer = f"it is {RIGHT}" if _number(key) % 2 else "I do not know"
    places = {"url": "http://shop.arena.test/", "logical": "shop:/", "title": "Shop"}
    return Evidence(
        suite=SUITE.suite,
        task=key.task,
        world=World.OFFLINE,
        agent="a",
        repeat=key.repeat,
        attempt=attempt,
        started_at="2026-11-26T10:00:00+00:00",
        seconds=1.5,
        answer=None if fault else answer,
        ended=None if fault else Ended.STOPPED,
        steps=(
            StepEvidence(index=0, action=None, **places),
            StepEvidence(index=1, action=Stop(answer=answer), **places),
        ),
        fault=EpisodeFault(reason=UnscoredReason.INFRA, message=fault) if fault else None,
    )
