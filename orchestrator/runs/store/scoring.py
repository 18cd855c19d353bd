"""Scores of attempts, also of those that left no evidence or met a bug; none hides another."""

from __future__ import annotations

import logging

from arena_core.bugs import bug_in_words, is_bug, place_of
from evaluators.evidence import EpisodeFault, Evidence, UnscoredReason
from evaluators.scores import Score, score
from evaluators.verdicts import Outcome, OutcomeKind
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.lock import RunLock
from tasks.schema import Task

_LOG = logging.getLogger(__name__)


def score_task(task: Task, evidence: Evidence) -> Score:
    """Score an attempt at a task; `unscored: internal` where a check meets a bug."""
    try:
        return score(task.checks, evidence, task.requires, task.harms)
    except Exception as error:
        if not is_bug(error):
            raise
        _LOG.exception("a bug in scoring task '%s'", task.id)
        return _unscored(error, evidence)


def _unscored(bug: Exception, evidence: Evidence) -> Score:
    return Score(
        outcome=Outcome(OutcomeKind.UNSCORED, UnscoredReason.INTERNAL),
        because=f"while scoring: {bug_in_words(bug)} at {place_of(bug)}",
        verdicts=(),
        required=(),
        key_nodes_met=0,
        key_nodes=0,
        completion=None,
        steps=sum(step.action is not None for step in evidence.steps),
        efficiency=None,
        alignment=None,
    )


def unplayed(lock: RunLock, key: EpisodeKey, number: int, fault: EpisodeFault) -> Evidence:
    """Return evidence that holds a fault alone, which scores as unscored."""
    rollouts = lock.rollouts
    return Evidence(
        suite=lock.suite,
        task=key.task,
        world=key.world,
        agent=lock.agent.name,
        repeat=key.repeat,
        attempt=number,
        started_at=lock.created_at,
        seconds=0.0,
        fault=fault,
        branch=None if rollouts is None else rollouts.branch_of(key),
    )
