"""The order in which a study's episodes begin: what a day does to the web hits all alike."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from orchestrator.runner.run import InOrder
from orchestrator.runner.worker import Job


def interleaved(seed: int) -> InOrder:
    """Return what brings trials into a study's order: by repeat, then task, then agent.

    Within a repeat tasks come in an order drawn anew, and so do the agents of each task: no agent
    is always the first on a fresh replica. Both worlds have the same order, side by side.
    """

    def in_order(jobs: Sequence[Job]) -> Sequence[Job]:
        return sorted(jobs, key=lambda job: _place(seed, job))

    return in_order


def _place(seed: int, job: Job) -> tuple[int, str, str]:
    trial = job.trial
    task = f"{seed}/{trial.repeat}/{job.run.request.suite.suite}/{trial.task}"
    return trial.repeat, _drawn(task), _drawn(f"{task}/{job.run.name}")


def _drawn(text: str) -> str:
    return sha256(text.encode()).hexdigest()
