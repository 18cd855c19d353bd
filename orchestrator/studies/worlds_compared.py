"""How far the two worlds agree: for each agent task by task, and over agents in their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from arena_core.worlds import World
from orchestrator.stats.concordance import bland_altman, kappa, rank_correlation
from orchestrator.stats.rates import Interval, rate_of
from orchestrator.stats.results import (
    Compared,
    EpisodeResult,
    TaskPair,
    pair_tasks,
    success_rate,
)
from orchestrator.studies.findings import (
    Cell,
    CellFigures,
    RankCorrelation,
    TemplatePoint,
    WorldAgreement,
)

_HALF: Final = 0.5
_FEW_AGENTS: Final = 5

Rows = Sequence[EpisodeResult]


def agreements(
    by_cell: Mapping[Cell, Rows], cells: Iterable[CellFigures], *, confidence: float
) -> tuple[WorldAgreement, ...]:
    """Return the agreement of every agent and suite that both worlds were played of."""
    labels = {one.cell: one.world_label for one in cells}
    return tuple(
        _agreement(
            offline,
            (labels[offline], labels[online]),
            pair_tasks(by_cell[offline], by_cell[online], Compared.WORLDS),
            confidence,
        )
        for offline in labels
        if offline.world is World.OFFLINE
        and (online := Cell(offline.agent, offline.suite, World.ONLINE)) in labels
        and by_cell.get(offline)
        and by_cell.get(online)
    )


def _agreement(
    cell: Cell, labels: tuple[str, str], pairs: Sequence[TaskPair], confidence: float
) -> WorldAgreement:
    counts: dict[tuple[bool, bool], list[str]] = {
        (won, also): [] for won in (True, False) for also in (True, False)
    }
    unpaired: list[str] = []
    split: list[str] = []
    decided: list[TaskPair] = []
    for pair in pairs:
        name = pair.task.removeprefix(f"{cell.agent}/{cell.suite}/")
        first, second = (side.share for side in pair.sides)
        if first is None or second is None:
            unpaired.append(name)
        elif _HALF in {first, second}:
            split.append(name)
        else:
            won = first > _HALF, second > _HALF
            counts[won].append(name)
            decided.append(TaskPair(pair.task, pair.cluster, (won[0],), (won[1],)))
    same = [float(pair.first == pair.second) for pair in decided]
    rate, agreed = rate_of(same, confidence), kappa(decided, confidence=confidence)
    plot = bland_altman(pairs, confidence=confidence)
    return WorldAgreement(
        agent=cell.agent,
        suite=cell.suite,
        offline_label=labels[0],
        online_label=labels[1],
        both=tuple(counts[True, True]),
        offline_only=tuple(counts[True, False]),
        online_only=tuple(counts[False, True]),
        neither=tuple(counts[False, False]),
        split=tuple(split),
        unpaired=tuple(unpaired),
        rate=rate.value,
        rate_interval=rate.interval,
        kappa=agreed.value,
        kappa_interval=agreed.interval,
        points=tuple(
            TemplatePoint(
                template=point.cluster.removeprefix(f"{cell.suite}/"),
                tasks=point.tasks,
                mean=point.mean,
                difference=point.difference,
            )
            for point in plot.points
        ),
        bias=plot.bias,
        bias_interval=plot.bias_interval,
        limits=None
        if plot.lower is None or plot.upper is None
        else Interval(plot.lower, plot.upper),
    )


def rank_correlations(
    by_cell: Mapping[Cell, Rows], cells: Iterable[CellFigures]
) -> tuple[RankCorrelation, ...]:
    """Return, for each suite that two agents or more played in both worlds, whether orders agree.

    The rates are of the tasks that both worlds have an outcome of, so that a task of one world
    alone moves no agent.
    """
    there = [one.cell for one in cells]
    found = []
    for suite in dict.fromkeys(cell.suite for cell in there):
        rates = _paired_rates(suite, there, by_cell)
        if len(rates) > 1:
            found.append(_ranks(suite, rates))
    return tuple(found)


def _paired_rates(
    suite: str, cells: Sequence[Cell], by_cell: Mapping[Cell, Rows]
) -> dict[str, tuple[float, float]]:
    found = {}
    for agent in dict.fromkeys(cell.agent for cell in cells if cell.suite == suite):
        offline, online = (by_cell.get(Cell(agent, suite, world), []) for world in World)
        pairs = [
            pair
            for pair in pair_tasks(offline, online, Compared.WORLDS)
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
        says=_ranks_said(len(rates), found.tau, found.undefined),
    )


def _ranks_said(agents: int, tau: float | None, undefined: str | None) -> str:
    if tau is None:
        return f"No rank correlation: {undefined or 'a world has all agents equal'}."
    order = "in the same order" if tau == 1 else "in another order"
    said = f"The two worlds put the {agents} agents {order} (Kendall's tau-b {tau:.2f})"
    few = "; so few agents are weak evidence either way" if agents < _FEW_AGENTS else ""
    return f"{said}{few}."
