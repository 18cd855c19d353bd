"""A finished study made by hand: two agents, one task, offline, as if it had been played."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from tiny_run import SUITE, make_lock

from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence
from orchestrator.store.ledger import AttemptState
from orchestrator.store.lock import AgentLock, RunLock, hash_suite
from orchestrator.store.run_folder import RunFolder
from orchestrator.store.scoring import score_task
from orchestrator.store.trials import Trial
from orchestrator.studies.registration import (
    RegisteredRun,
    RegisteredSuite,
    Registration,
    lock_digest,
)
from orchestrator.studies.study_folder import StudyFolder, sha256

STUDY: Final = b"""\
name: made
agents: {right: {agent: idle}, wrong: {agent: idle}}
suites: [{suite: demo}]
repeats: 3
questions: [{id: q, kind: difference, of: agents, first: right, second: wrong}]
"""
ANSWERS: Final = {"right": "1891", "wrong": "1892"}
REGISTERED: Final = datetime(2026, 11, 22, tzinfo=UTC)


def make_study(path: Path) -> StudyFolder:
    """Write a study's folder with three episodes of each agent."""
    with StudyFolder.creating(path) as folder:
        runs = tuple(_run(folder, label) for label in ANSWERS)
        registration = Registration(
            study="study-made-1",
            name="made",
            registered_at=REGISTERED.isoformat(),
            by="me",
            study_sha256=sha256(STUDY),
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
        )
        folder.register(STUDY, registration)
    made = StudyFolder.open(path)
    for one in runs:
        play(made.run_folder(one.folder), ANSWERS[one.agent], range(3))
    return made


def lock_of(label: str) -> RunLock:
    """Return the lock of one agent's run."""
    agent: AgentLock = make_lock().agent
    return make_lock().model_copy(update={"run": f"run-{label}", "repeats": 3, "agent": agent})


def play(run: RunFolder, answer: str, repeats: range) -> None:
    """Enter one finished episode a repeat."""
    lock = run.lock()
    with run.writing() as ledger:
        for repeat in repeats:
            trial = Trial("one", World.OFFLINE, repeat)
            number = ledger.start(trial)
            evidence = Evidence(
                suite="tiny",
                task="one",
                world=World.OFFLINE,
                agent=lock.agent.name,
                repeat=repeat,
                attempt=number,
                started_at=(REGISTERED + timedelta(minutes=repeat + 1)).isoformat(),
                seconds=1.0,
                answer=answer,
                ended=Ended.STOPPED,
            )
            digest = run.save_evidence(trial.folder(number), evidence, {"step-0.png": b"picture"})
            outcome = str(score_task(SUITE.tasks[0], evidence).outcome)
            ledger.end(trial, number, AttemptState.FINISHED, outcome, digest)


def _run(folder: StudyFolder, label: str) -> RegisteredRun:
    lock = lock_of(label)
    RunFolder.create(folder.runs_path / label, lock, SUITE)
    return RegisteredRun(
        folder=label,
        run=lock.run,
        agent=label,
        suite="demo",
        tasks={World.OFFLINE: 1},
        lock_sha256=lock_digest(lock),
    )
