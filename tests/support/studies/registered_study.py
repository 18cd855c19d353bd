"""A finished study made by hand: two agents, one task, offline, as if it had been played."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from arena_core.worlds import World
from evaluators.evidence import Varied
from orchestrator.agents.interface import AgentLock
from orchestrator.analysis.studies.registration import (
    RegisteredRun,
    RegisteredSuite,
    Registration,
    StudyFolder,
    sha256,
)
from orchestrator.analysis.studies.seals import seal_study
from orchestrator.runs.shard import Shard
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.lock import RunLock, hash_suite, lock_digest
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.scoring import score_task
from support.runs.tiny_run import SUITE, make_lock, tiny_evidence

STUDY: Final = b"""\
name: made
agents: {right: {agent: idle}, wrong: {agent: idle}}
suites: [{suite: demo}]
repeats: 3
attempts: 2
questions: [{id: q, kind: difference, of: agents, first: right, second: wrong}]
"""
ANSWERS: Final = {"right": "1891", "wrong": "1892"}
REGISTERED: Final = datetime(2026, 11, 22, tzinfo=UTC)


def make_study(
    path: Path,
    text: bytes = STUDY,
    *,
    repeats: int = 3,
    arms: Mapping[str, tuple[str, ...]] | None = None,
    shard: str | None = None,
) -> StudyFolder:
    """Write a study's folder with so many of the three episodes of each agent.

    Args:
        path: of the folder.
        text: the study's file.
        repeats: how many episodes of each run are there.
        arms: what is varied in each, by its name; there each agent's last episode is void.
        shard: the share of its episodes that it has.
    """
    clean: dict[str, tuple[str, ...]] = {"": ()}
    with StudyFolder.creating(path) as folder:
        runs = tuple(
            _run(folder, label, arm, vary, shard)
            for label in ANSWERS
            for arm, vary in (clean | dict(arms or {})).items()
        )
        registration = Registration(
            study=f"study-made-{shard or 1}",
            name="made",
            registered_at=REGISTERED.isoformat(),
            by="me",
            study_sha256=sha256(text),
            packages={},
            suites=(
                RegisteredSuite(
                    label="demo",
                    suite="tiny",
                    version=1,
                    sha256=hash_suite(SUITE),
                    tasks=("one",),
                ),
            ),
            runs=runs,
            shard=shard,
        )
        folder.register(text, registration)
    made = StudyFolder.open(path)
    for one in runs:
        play(made.run_folder(one.folder), ANSWERS[one.agent], range(repeats))
    seal_study(made)
    return made


def lock_of(label: str) -> RunLock:
    """Return the lock of one agent's run."""
    agent: AgentLock = make_lock().agent
    return make_lock().model_copy(update={"run": f"run-{label}", "repeats": 3, "agent": agent})


def play(run: RunFolder, answer: str, repeats: Iterable[int]) -> None:
    """Enter one finished episode a repeat."""
    lock = run.lock()
    share = Shard.parse(lock.shard or "1/1")
    with run.writing() as ledger:
        for repeat in repeats:
            key = EpisodeKey("one", World.OFFLINE, repeat)
            if not share.has(key.name):
                continue
            number = ledger.start(key)
            evidence = tiny_evidence(
                agent=lock.agent.name,
                repeat=repeat,
                attempt=number,
                started_at=(REGISTERED + timedelta(minutes=repeat + 1)).isoformat(),
                answer=answer,
                varied=tuple(
                    Varied(variation=one, count=0 if repeat == lock.repeats - 1 else 2)
                    for one in lock.vary
                ),
            )
            digest = run.save_evidence(key.folder(number), evidence, {"step-0.png": b"picture"})
            outcome = str(score_task(SUITE.tasks[0], evidence).outcome)
            ledger.end(key, number, AttemptState.FINISHED, outcome, digest)


def _run(
    folder: StudyFolder, label: str, arm: str, vary: tuple[str, ...], shard: str | None
) -> RegisteredRun:
    name = f"{label}--{arm}" if arm else label
    run = f"run-{name}" if shard is None else f"run-{name}-{shard.replace('/', 'of')}"
    lock = lock_of(name).model_copy(update={"vary": vary, "run": run, "shard": shard})
    own = {World.OFFLINE: len(list(lock.trials(SUITE.tasks)))}
    RunFolder.create(folder.runs_path / name, lock, SUITE)
    return RegisteredRun(
        folder=name,
        run=lock.run,
        agent=label,
        arm=arm,
        suite="demo",
        tasks={World.OFFLINE: 1},
        lock_sha256=lock_digest(lock),
        own_episodes=None if shard is None else own,
    )
