"""One agent in one world: rates over tasks, and what could not be scored."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluators.evidence import UnscoredReason
from evaluators.scores import Score
from evaluators.verdicts import OutcomeKind
from orchestrator.analysis.stats.rates import CONFIDENCE, Interval, Rate, rate_over

TaskScores = Mapping[str, Sequence[Score]]
"""The scores of every episode by task: one score per repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the episodes of one agent in one world say.

    Attributes:
        tasks, episodes: how many there were; `scored`: episodes with an outcome of success or
            failure.
        unscored: how many episodes have which reason, commonest first.
        success: every check met; over tasks with at least one scored episode.
        bounds: the success rate if every unscored episode had failed, and if each had succeeded;
            None where there is no episode.
        macro_completion, micro_completion: None where no scored episode has key nodes.
        sr0, sr1: at most 0 or 1 key node missing; over tasks with key nodes. A task with a single
            key node always counts in `sr1`.
        efficiency: all steps ÷ all met key nodes over scored episodes, repeats averaged; episodes
            that met none count with their steps. None where no key node was met.
        alignment: mean human alignment score; None where there is none.
        steps: mean steps of scored episodes; None where there is none.
    """

    tasks: int
    episodes: int
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


def summarise(
    scores: TaskScores,
    confidence: float = CONFIDENCE,
    *,
    clusters: Mapping[str, str] | None = None,
) -> Summary:
    """Summarise episodes; repeats are averaged inside their task first.

    Args:
        scores: of each task.
        confidence: of the intervals.
        clusters: by task, what is the same of tasks that may be alike; a task that is not in it is
            like no other.
    """
    episodes = [score for repeats in scores.values() for score in repeats]
    scored = {
        task: [score for score in repeats if _is_scored(score)] for task, repeats in scores.items()
    }
    played = {task: repeats for task, repeats in scored.items() if repeats}
    with_nodes = {
        task: known
        for task, repeats in played.items()
        if (known := [score for score in repeats if score.completion is not None])
    }
    noded = list(with_nodes.values())

    def rate(tasks: TaskScores, of: Callable[[Score], float]) -> Rate:
        return rate_over(
            [
                ((clusters or {}).get(task, task), _mean(map(of, one)))
                for task, one in tasks.items()
            ],
            episodes=sum(map(len, tasks.values())),
            confidence=confidence,
        )

    reasons = Counter(
        score.outcome.reason for score in episodes if score.outcome.reason is not None
    )
    met = [_mean(score.key_nodes_met for score in repeats) for repeats in noded]
    nodes = [_mean(score.key_nodes for score in repeats) for repeats in noded]
    steps = [_mean(score.steps for score in repeats) for repeats in noded]
    return Summary(
        tasks=len(scores),
        episodes=len(episodes),
        scored=sum(map(len, scored.values())),
        unscored=tuple(reasons.most_common()),
        success=rate(played, _has_succeeded),
        bounds=_bounds(scores),
        macro_completion=_mean_of([_mean(map(_completion, repeats)) for repeats in noded]),
        micro_completion=_ratio(met, nodes),
        sr0=rate(with_nodes, lambda score: float(_missing(score) <= 0)),
        sr1=rate(with_nodes, lambda score: float(_missing(score) <= 1)),
        efficiency=_ratio(steps, met),
        alignment=_mean_of([_mean(score.alignment or 0.0 for score in one) for one in noded]),
        steps=_mean_of([_mean(score.steps for score in repeats) for repeats in played.values()]),
    )


def success_share(scores: Sequence[Score]) -> float | None:
    """Return the share of a task's scored repeats that succeeded, None where none was scored."""
    return _mean_of([_has_succeeded(score) for score in scores if _is_scored(score)])


def _bounds(scores: TaskScores) -> Interval | None:
    """Return the success rate with all unscored episodes failed, and with all succeeded."""
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


def _missing(score: Score) -> int:
    return score.key_nodes - score.key_nodes_met


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return math.fsum(numbers) / len(numbers)


def _mean_of(values: Sequence[float]) -> float | None:
    return _mean(values) if values else None


def _ratio(parts: Sequence[float], wholes: Sequence[float]) -> float | None:
    whole = math.fsum(wholes)
    return math.fsum(parts) / whole if whole else None
