"""Scores of attempts; a bug met while scoring is reported as such, and hides no other score."""

from __future__ import annotations

import logging

from arena_core.bugs import bug_in_words, is_bug, place_of
from evaluators.evidence import Evidence, UnscoredReason
from evaluators.scores import Score, score
from evaluators.verdicts import Outcome, OutcomeKind
from tasks.schema import Task

_LOG = logging.getLogger(__name__)


def score_task(task: Task, evidence: Evidence) -> Score:
    """Score an attempt at a task; `unscored: internal` where a check meets a bug."""
    try:
        return score(task.checks, evidence, task.requires)
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
