"""One agent in one world: rates over tasks, and what could not be scored."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluators.evidence import UnscoredReason
from evaluators.scores import Score
from evaluators.verdicts import OutcomeKind
from orchestrator.stats.rates import CONFIDENCE, Interval, Rate, rate_of

TaskScores = Mapping[str, Sequence[Score]]
"""The scores of every trial by task: one score per repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the trials of one agent in one world say.

    Attributes:
        tasks, trials: how many there were; `scored`: trials with an outcome of success or failure.
        unscored: how many trials have which reason, commonest first.
        success: every check met; over tasks with at least one scored trial.
        bounds: the success rate if every unscored trial had failed, and if each had succeeded; None
            where there is no trial.
        macro_completion, micro_completion: None where no scored trial has key nodes.
        sr0, sr1: at most 0 or 1 key node missing; over tasks with key nodes. A task with a single
            key node always counts in `sr1`.
        efficiency: all steps ÷ all met key nodes over scored trials, repeats averaged; trials that
            met none count with their steps. None where no key node was met.
        alignment: mean human alignment score; None where there is none.
        steps: mean steps of scored trials; None where there is none.
    """

    tasks: int
    trials: int
    scored: int
    unscored: tuple[tuple[UnscoredReason, int], ...]
    success: Rate
    bounds: Interval | None
    macro_completion: float | None
    micro_completion: float | None
    sr0: Rate
    sr1: Rate
    efficiency: float | None
    alignment: float | None
    steps: float | None


def summarise(scores: TaskScores, confidence: float = CONFIDENCE) -> Summary:
    """Summarise trials; repeats are averaged inside their task first."""
    trials = [score for repeats in scores.values() for score in repeats]
    scored = [[score for score in repeats if _is_scored(score)] for repeats in scores.values()]
    played = [repeats for repeats in scored if repeats]
    noded = [
        known
        for repeats in played
        if (known := [score for score in repeats if score.completion is not None])
    ]
    reasons = Counter(score.outcome.reason for score in trials if score.outcome.reason is not None)
    met = [_mean(score.key_nodes_met for score in repeats) for repeats in noded]
    nodes = [_mean(score.key_nodes for score in repeats) for repeats in noded]
    steps = [_mean(score.steps for score in repeats) for repeats in noded]
    return Summary(
        tasks=len(scores),
        trials=len(trials),
        scored=sum(map(len, scored)),
        unscored=tuple(reasons.most_common()),
        success=rate_of([_mean(map(_has_succeeded, repeats)) for repeats in played], confidence),
        bounds=_bounds(scores),
        macro_completion=_mean_of([_mean(map(_completion, repeats)) for repeats in noded]),
        micro_completion=_ratio(met, nodes),
        sr0=rate_of([_missing_at_most(0, repeats) for repeats in noded], confidence),
        sr1=rate_of([_missing_at_most(1, repeats) for repeats in noded], confidence),
        efficiency=_ratio(steps, met),
        alignment=_mean_of([_mean(score.alignment or 0.0 for score in one) for one in noded]),
        steps=_mean_of([_mean(score.steps for score in repeats) for repeats in played]),
    )


def success_share(scores: Sequence[Score]) -> float | None:
    """Return the share of a task's scored repeats that succeeded, None where none was scored."""
    return _mean_of([_has_succeeded(score) for score in scores if _is_scored(score)])


def _bounds(scores: TaskScores) -> Interval | None:
    """Return the success rate with all unscored trials failed, and with all succeeded."""
    tasks = [repeats for repeats in scores.values() if repeats]
    if not tasks:
        return None
    worst = [_mean(map(_has_succeeded, repeats)) for repeats in tasks]
    best = [
        _mean(1.0 if not _is_scored(score) else _has_succeeded(score) for score in repeats)
        for repeats in tasks
    ]
    return Interval(_mean(worst), _mean(best))


def _is_scored(score: Score) -> bool:
    return score.outcome.kind is not OutcomeKind.UNSCORED


def _has_succeeded(score: Score) -> float:
    return 1.0 if score.outcome.kind is OutcomeKind.SUCCESS else 0.0


def _completion(score: Score) -> float:
    return score.completion or 0.0


def _missing_at_most(missing: int, scores: Sequence[Score]) -> float:
    return _mean(float(score.key_nodes - score.key_nodes_met <= missing) for score in scores)


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return math.fsum(numbers) / len(numbers)


def _mean_of(values: Sequence[float]) -> float | None:
    return _mean(values) if values else None


def _ratio(parts: Sequence[float], wholes: Sequence[float]) -> float | None:
    whole = math.fsum(wholes)
    return math.fsum(parts) / whole if whole else None
