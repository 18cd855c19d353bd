"""The evidence of an attempt that left none: nothing but why."""

from __future__ import annotations

from evaluators.evidence import EpisodeFault, Evidence
from orchestrator.store.lock import RunLock
from orchestrator.store.trials import Trial


def unplayed(lock: RunLock, trial: Trial, number: int, fault: EpisodeFault) -> Evidence:
    """Return evidence that holds a fault alone, which scores as unscored.

    Args:
        lock: of the run.
        trial: what was to be played.
        number: of the attempt, from 1.
        fault: why there is no other evidence.
    """
    return Evidence(
        suite=lock.suite,
        task=trial.task,
        world=trial.world,
        agent=lock.agent.name,
        repeat=trial.repeat,
        attempt=number,
        started_at=lock.created_at,
        seconds=0.0,
        fault=fault,
    )
