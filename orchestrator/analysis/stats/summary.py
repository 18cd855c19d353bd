"""One agent in one world: rates over tasks, and what could not be scored."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluators.evidence import UnscoredReason
from orchestrator.analysis.stats.rates import CONFIDENCE, Interval, Rate, clustered_rate, rate_over
from orchestrator.analysis.stats.results import EpisodeResult, EpisodeTable
from orchestrator.analysis.stats.unscored import rate_bounds


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


def summarise(rows: EpisodeTable, confidence: float = CONFIDENCE) -> Summary:
    """Summarise the episodes of one cell; repeats are averaged inside their task first."""
    scored = rows.scored
    noded = scored.where(lambda row: row.completion is not None).by_task
    reasons = Counter(row.reason for row in rows if row.reason is not None)
    success = clustered_rate(rows.tasks, confidence)
    met, steps = _means(noded, lambda row: row.key_nodes_met), _means(noded, lambda row: row.steps)

    def rate_if(missing: int) -> Rate:
        means = _means(noded, lambda row: row.key_nodes - row.key_nodes_met <= missing)
        shares = [(one.cluster, mean) for one, mean in zip(noded, means, strict=True)]
        return rate_over(shares, episodes=sum(map(len, noded)), confidence=confidence)

    return Summary(
        tasks=len(rows.by_task),
        episodes=len(rows),
        scored=len(scored),
        unscored=tuple(reasons.most_common()),
        success=success.as_rate,
        bounds=rate_bounds(rows.tasks),
        macro_completion=_mean(_means(noded, lambda row: row.completion or 0.0)),
        micro_completion=_ratio(met, _means(noded, lambda row: row.key_nodes)),
        sr0=rate_if(0),
        sr1=rate_if(1),
        efficiency=_ratio(steps, met),
        alignment=_mean(_means(noded, lambda row: row.alignment or 0.0)),
        steps=_mean(_means(scored.by_task, lambda row: row.steps)),
    )


def _means(tasks: Sequence[EpisodeTable], of: Callable[[EpisodeResult], float]) -> Sequence[float]:
    return [one.mean(of) for one in tasks]


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _ratio(parts: Sequence[float], wholes: Sequence[float]) -> float | None:
    whole = math.fsum(wholes)
    return math.fsum(parts) / whole if whole else None
