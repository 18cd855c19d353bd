"""The figures of each cell, and how far the two worlds agree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.analysis.stats import concordance
from orchestrator.analysis.stats.agreement import WonTasks
from orchestrator.analysis.stats.concordance import bland_altman, kappa, rank_correlation
from orchestrator.analysis.stats.costs import PerSuccess, per_success
from orchestrator.analysis.stats.rates import (
    Interval,
    pass_at_k,
    pass_hat_k,
    rate_of,
)
from orchestrator.analysis.stats.results import (
    Cell,
    Compared,
    EpisodeTable,
    TaskOutcomes,
    TaskPair,
    success_rate,
)
from orchestrator.analysis.stats.summary import summarise
from orchestrator.analysis.studies.findings import (
    CellFigures,
    PassRates,
    RankCorrelation,
    Spending,
    WorldAgreement,
)
from orchestrator.analysis.studies.study_runs import StudyRun
from orchestrator.analysis.wording import agent_note

_MOST_PASSES: Final = 20
_FEW_AGENTS: Final = 5


def cells_of(runs: Iterable[StudyRun]) -> dict[Cell, list[StudyRun]]:
    """Return the cells that runs fill, in their order, each with its runs."""
    found: dict[Cell, list[StudyRun]] = {}
    for run in runs:
        for world in run.lock.worlds:
            mine = found.setdefault(Cell(run.label, run.suite, world), [])
            mine.append(run)
            pools = {one.lock.live_pool for one in mine} - {None}
            if world is World.ONLINE and len(pools) > 1:
                named = " and ".join(sorted(str(pool) for pool in pools))
                message = f"{run.label} on {run.suite} visited live sites in {named}: live scores"
                message += " of two browsers are never put together"
                raise StoreError(message, hint="give each run a label of its own")
    return found


def suites_apart(runs: Iterable[StudyRun]) -> frozenset[str]:
    """Return the suites whose live sites were not all visited in one browser."""
    pools: dict[str, set[str]] = {}
    for run in runs:
        if run.lock.live_pool is not None:
            pools.setdefault(run.suite, set()).add(run.lock.live_pool)
    return frozenset(suite for suite, found in pools.items() if len(found) > 1)


def cell_figures(
    cell: Cell, rows: EpisodeTable, runs: Sequence[StudyRun], *, confidence: float
) -> CellFigures:
    """Return the figures of a cell from its rows; there may be none yet."""
    tasks = rows.tasks
    shares = [share for task in tasks if (share := task.share) is not None]
    found = summarise(rows, confidence)
    return CellFigures(
        cell=cell,
        world_label=runs[0].lock.label(cell.world),
        agent_note=_note(runs[0]),
        tasks=found.tasks,
        scored_tasks=found.success.count,
        episodes=found.episodes,
        scored=found.scored,
        pending=sum(run.pending.get(cell.world, 0) for run in runs),
        unscored=tuple(sorted(found.unscored, key=lambda one: (-one[1], one[0]))),
        success=found.success.value,
        wilson=rate_of(shares, confidence).interval,
        clustered=found.success.interval,
        clusters=len({task.cluster for task in tasks if task.share is not None}),
        bounds=found.bounds,
        completion_macro=found.macro_completion,
        completion_micro=found.micro_completion,
        sr0=found.sr0.value,
        sr1=found.sr1.value,
        efficiency=found.efficiency,
        alignment=found.alignment,
        steps=found.steps,
        passes=_passes(tasks, confidence),
        spending=_spending(rows),
    )


def _note(run: StudyRun) -> str | None:
    added = "added after the study was registered" if run.is_added else None
    arm = f"in the arm {run.lock.arm}" if run.lock.arm else None
    return "; ".join(part for part in (agent_note(run.lock.agent), arm, added) if part) or None


def _passes(tasks: Sequence[TaskOutcomes], confidence: float) -> tuple[PassRates, ...]:
    most = max((len(task.scored) for task in tasks), default=0)
    found = []
    for k in range(1, min(most, _MOST_PASSES) + 1):
        at, hat = pass_at_k(tasks, k, confidence), pass_hat_k(tasks, k, confidence)
        if at.value is not None and hat.value is not None:
            found.append(
                PassRates(
                    k=k,
                    at=at.value,
                    hat=hat.value,
                    tasks=at.tasks,
                    at_interval=at.interval,
                    hat_interval=hat.interval,
                )
            )
    return tuple(found)


def _spending(rows: EpisodeTable) -> Spending:
    has_model = any(row.tokens for row in rows)
    seconds = per_success(rows, lambda row: row.seconds)
    usd = per_success(rows, lambda row: row.cost) if has_model else None
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


def _all_spent(found: PerSuccess) -> float | None:
    if found.total is None or found.spent_unscored is None:
        return None
    return found.total + found.spent_unscored


def agreements(
    table: EpisodeTable, cells: Iterable[CellFigures], *, confidence: float
) -> tuple[WorldAgreement, ...]:
    """Return the agreement of every agent and suite that both worlds were played of."""
    labels = {one.cell: one.world_label for one in cells}
    return tuple(
        _agreement(
            offline,
            (labels[offline], labels[online]),
            table.cells[offline].paired_with(table.cells[online], Compared.WORLDS),
            confidence,
        )
        for offline in labels
        if offline.world is World.OFFLINE
        and (online := Cell(offline.agent, offline.suite, World.ONLINE)) in labels
        and offline in table.cells
        and online in table.cells
    )


def _agreement(
    cell: Cell, labels: tuple[str, str], pairs: Sequence[TaskPair], confidence: float
) -> WorldAgreement:
    won = WonTasks.of(pairs)
    rate = won.rate(confidence)
    agreed = kappa(won.decided, confidence=confidence)
    plot = bland_altman(pairs, confidence=confidence)
    return WorldAgreement(
        agent=cell.agent,
        suite=cell.suite,
        offline_label=labels[0],
        online_label=labels[1],
        both=won.both,
        offline_only=won.first_only,
        online_only=won.second_only,
        neither=won.neither,
        split=won.split,
        unpaired=won.unpaired,
        rate=rate.value,
        rate_interval=rate.interval,
        kappa=agreed.value,
        kappa_interval=agreed.interval,
        points=tuple(
            replace(point, template=point.template.removeprefix(f"{cell.suite}/"))
            for point in plot.points
        ),
        bias=plot.bias,
        bias_interval=plot.bias_interval,
        limits=None
        if plot.lower is None or plot.upper is None
        else Interval(plot.lower, plot.upper),
        low_limit_interval=plot.lower_interval,
        high_limit_interval=plot.upper_interval,
    )


def rank_correlations(
    table: EpisodeTable, cells: Iterable[CellFigures], apart: Collection[str] = ()
) -> tuple[RankCorrelation, ...]:
    """Return, for each suite that two agents or more played in both worlds, whether orders agree.

    The rates are of the tasks that both worlds have an outcome of, so that a task of one world
    alone moves no agent. Agents that visited live sites in different browsers have no common order.
    """
    there = [one.cell for one in cells if one.cell.suite not in apart]
    found = []
    for suite in dict.fromkeys(cell.suite for cell in there):
        rates = _paired_rates(suite, there, table)
        if len(rates) > 1:
            found.append(_ranks(suite, rates))
    return tuple(found)


def _paired_rates(
    suite: str, cells: Sequence[Cell], table: EpisodeTable
) -> dict[str, tuple[float, float]]:
    found, none = {}, EpisodeTable()
    for agent in dict.fromkeys(cell.agent for cell in cells if cell.suite == suite):
        offline, online = (table.cells.get(Cell(agent, suite, world), none) for world in World)
        pairs = [
            pair
            for pair in offline.paired_with(online, Compared.WORLDS)
            if pair.difference is not None
        ]
        first, second = (success_rate(pair.sides[side] for pair in pairs) for side in (0, 1))
        if first is not None and second is not None:
            found[agent] = first, second
    return found


def _ranks(suite: str, rates: Mapping[str, tuple[float, float]]) -> RankCorrelation:
    offline = {agent: one[0] for agent, one in rates.items()}
    online = {agent: one[1] for agent, one in rates.items()}
    found = rank_correlation(offline, online)
    return RankCorrelation(
        suite=suite,
        agents=tuple(rates),
        offline=tuple(offline.values()),
        online=tuple(online.values()),
        tau=found.tau,
        p=found.p,
        says=_ranks_said(found),
    )


def _ranks_said(found: concordance.RankCorrelation) -> str:
    if found.tau is None:
        return f"No rank correlation: {found.undefined or 'a world has all agents equal'}."
    agents = len(found.agents)
    order = "in the same order" if found.is_same_order else "in another order"
    said = f"The two worlds put the {agents} agents {order} (Kendall's tau-b {found.tau:.2f})"
    few = "; so few agents are weak evidence either way" if agents < _FEW_AGENTS else ""
    return f"{said}{few}."
