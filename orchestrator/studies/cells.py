"""The figures of one cell: one agent on one suite in one world."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from orchestrator.report.wording import agent_note
from orchestrator.stats.clustered import clustered_rate
from orchestrator.stats.costs import PerSuccess, per_success
from orchestrator.stats.passes import pass_at_k, pass_hat_k
from orchestrator.stats.rates import rate_of
from orchestrator.stats.results import EpisodeResult, TaskOutcomes, outcomes_by_task
from orchestrator.stats.unscored import rate_bounds
from orchestrator.studies.findings import Cell, CellFigures, PassRates, Spending
from orchestrator.studies.results import StudyRun

_MOST_PASSES: Final = 20

Rows = Sequence[EpisodeResult]


def cells_of(runs: Iterable[StudyRun]) -> dict[Cell, list[StudyRun]]:
    """Return the cells that runs fill, in their order, each with its runs."""
    found: dict[Cell, list[StudyRun]] = {}
    for run in runs:
        for world in run.lock.worlds:
            found.setdefault(Cell(run.label, run.suite, world), []).append(run)
    return found


def rows_by_cell(results: Iterable[EpisodeResult]) -> dict[Cell, list[EpisodeResult]]:
    """Return the rows of each cell."""
    found: dict[Cell, list[EpisodeResult]] = {}
    for row in results:
        found.setdefault(Cell(row.agent, row.suite, row.world), []).append(row)
    return found


def cell_figures(
    cell: Cell, rows: Rows, runs: Sequence[StudyRun], *, confidence: float
) -> CellFigures:
    """Return the figures of a cell from its rows; there may be none yet."""
    tasks = outcomes_by_task(rows)
    shares = [share for task in tasks if (share := task.share) is not None]
    plain, clustered = rate_of(shares, confidence), clustered_rate(tasks, confidence)
    scored = [row for row in rows if row.success is not None]
    nodes = _by_task([row for row in scored if row.completion is not None])
    reasons = Counter(row.reason for row in rows if row.reason is not None)
    met, steps = _sum_of_means(nodes, _met), _sum_of_means(nodes, _steps)
    return CellFigures(
        cell=cell,
        world_label=runs[0].lock.label(cell.world),
        agent_note=_note(runs[0]),
        tasks=len(tasks),
        scored_tasks=len(shares),
        episodes=len(rows),
        scored=len(scored),
        pending=sum(run.pending.get(cell.world, 0) for run in runs),
        unscored=tuple(sorted(reasons.items(), key=lambda one: (-one[1], one[0]))),
        success=plain.value,
        wilson=plain.interval,
        clustered=clustered.interval,
        clusters=len({task.cluster for task in tasks if task.share is not None}),
        bounds=rate_bounds(tasks),
        completion_macro=_mean_of_means(nodes, lambda row: row.completion or 0.0),
        completion_micro=_ratio(met, _sum_of_means(nodes, _nodes)),
        sr0=_mean_of_means(nodes, lambda row: _missing(row) <= 0),
        sr1=_mean_of_means(nodes, lambda row: _missing(row) <= 1),
        efficiency=_ratio(steps, met),
        alignment=_mean_of_means(nodes, lambda row: row.alignment or 0.0),
        steps=_mean_of_means(_by_task(scored), _steps),
        passes=_passes(tasks),
        spending=_spending(rows),
    )


def _note(run: StudyRun) -> str | None:
    added = "added after the study was registered" if run.is_added else None
    return "; ".join(part for part in (agent_note(run.lock.agent), added) if part) or None


def _by_task(rows: Iterable[EpisodeResult]) -> list[Rows]:
    found: dict[str, list[EpisodeResult]] = {}
    for row in rows:
        found.setdefault(row.task, []).append(row)
    return list(found.values())


def _met(row: EpisodeResult) -> float:
    return row.key_nodes_met


def _nodes(row: EpisodeResult) -> float:
    return row.key_nodes


def _steps(row: EpisodeResult) -> float:
    return row.steps


def _missing(row: EpisodeResult) -> int:
    return row.key_nodes - row.key_nodes_met


def _sum_of_means(tasks: Sequence[Rows], of: Callable[[EpisodeResult], float]) -> float:
    """Sum over tasks of the mean over repeats: playing one more often makes it no weightier."""
    return math.fsum(math.fsum(map(of, rows)) / len(rows) for rows in tasks)


def _mean_of_means(tasks: Sequence[Rows], of: Callable[[EpisodeResult], float]) -> float | None:
    return _sum_of_means(tasks, of) / len(tasks) if tasks else None


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _passes(tasks: Sequence[TaskOutcomes]) -> tuple[PassRates, ...]:
    most = max((len(task.scored) for task in tasks), default=0)
    found = []
    for k in range(1, min(most, _MOST_PASSES) + 1):
        at, hat = pass_at_k(tasks, k), pass_hat_k(tasks, k)
        if at.value is not None and hat.value is not None:
            found.append(PassRates(k=k, at=at.value, hat=hat.value, tasks=at.tasks))
    return tuple(found)


def _spending(rows: Rows) -> Spending:
    has_model = any(row.tokens for row in rows)
    seconds = per_success(rows, lambda row: row.seconds)
    usd = per_success(rows, _dollars) if has_model else None
    tokens = per_success(rows, lambda row: row.tokens) if has_model else None
    return Spending(
        usd=None if usd is None else _all_spent(usd),
        usd_per_episode=None if usd is None else usd.per_episode,
        usd_per_success=None if usd is None else usd.value,
        seconds_per_episode=seconds.per_episode,
        seconds_per_success=seconds.value,
        tokens_per_episode=None if tokens is None else tokens.per_episode,
        tokens_per_success=None if tokens is None else tokens.value,
    )


def _dollars(row: EpisodeResult) -> float | None:
    """Return what an episode cost; None where it asked a model whose price is unknown."""
    return None if row.usd is None and row.tokens else (row.usd or 0.0)


def _all_spent(found: PerSuccess) -> float | None:
    if found.total is None or found.spent_unscored is None:
        return None
    return found.total + found.spent_unscored
