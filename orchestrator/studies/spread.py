"""Where the spread of results comes from, and what a study of this size can find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from orchestrator.stats.design import PairedDesign, design_from
from orchestrator.stats.equivalence import Decision
from orchestrator.stats.power import detectable_difference
from orchestrator.stats.results import EpisodeResult, TaskOutcomes
from orchestrator.stats.variance import (
    LEAST_GAIN,
    RepeatsWorth,
    VarianceComponents,
    repeats_worth,
    variance_components,
    worthwhile_repeats,
)
from orchestrator.studies.answering import paired_for
from orchestrator.studies.findings import (
    Answer,
    Cell,
    Component,
    PowerFigures,
    RepeatGain,
    VarianceFigures,
)
from orchestrator.studies.wording import points

_UP_TO: Final = 10
_POWER: Final = 0.8
_SIMULATIONS: Final = 200  # the power to 3 points: a page is not to wait for more

Rows = Sequence[EpisodeResult]


def variance_figures(by_cell: Mapping[Cell, Rows]) -> tuple[VarianceFigures, ...]:
    """Return the components of each agent on each suite, over the worlds that it played."""
    rows: dict[tuple[str, str], list[EpisodeResult]] = {}
    for cell, mine in by_cell.items():
        rows.setdefault((cell.agent, cell.suite), []).extend(mine)
    return tuple(
        _of(agent, suite, variance_components(mine)) for (agent, suite), mine in rows.items()
    )


def _of(agent: str, suite: str, found: VarianceComponents) -> VarianceFigures:
    total = found.total
    if total is None:
        says = f"No components of variance: {found.undefined or 'nothing is scored'}."
        return VarianceFigures(agent=agent, suite=suite, components=(), gains=(), says=says)
    parts = (
        ("tasks", found.tasks),
        ("worlds", found.worlds),
        ("tasks × worlds", found.tasks_by_worlds),
        ("repeats", found.repeats),
    )
    worth = repeats_worth(found, tasks=found.task_count, up_to=_UP_TO)
    return VarianceFigures(
        agent=agent,
        suite=suite,
        components=tuple(
            Component(source=name, variance=value, share=value / total if total else 0.0)
            for name, value in parts
            if value is not None
        ),
        gains=tuple(RepeatGain(repeats=w.repeats, standard_error=w.standard_error) for w in worth),
        says=_worth_said(worth),
    )


def _worth_said(worth: Sequence[RepeatsWorth]) -> str:
    last = worthwhile_repeats(worth)
    if last is None:
        return "What repeats are worth cannot be said: no task was scored twice in one world."
    if last == worth[-1].repeats:
        return f"Up to {last} repeats, each makes the standard error smaller by {LEAST_GAIN:.0%}."
    more = "one repeat" if last == 1 else f"{last} repeats"
    return (
        f"Beyond {more}, a further one makes the standard error smaller by less than"
        f" {LEAST_GAIN:.0%}: more tasks tell more."
    )


def power_figures(
    answers: Iterable[Answer], results: Rows, *, alpha: float, seed: int
) -> tuple[PowerFigures, ...]:
    """Return which difference each undecided question about one could have found."""
    found: list[PowerFigures] = []
    known: dict[PairedDesign, PowerFigures] = {}
    for answer in answers:
        question = answer.question
        if question.margin is not None or answer.decision is not Decision.UNDECIDED:
            continue
        pairs = [one for one in paired_for(question, results) if one.difference is not None]
        if len(pairs) < 2:  # noqa: PLR2004
            continue
        sides = [pair.sides[1] for pair in pairs]
        design = design_from(sides, repeats=_repeats(sides))
        if design not in known:
            known[design] = _power(question.id, design, alpha, seed)
        found.append(replace(known[design], question=question.id))
    return tuple(found)


def _repeats(tasks: Sequence[TaskOutcomes]) -> int:
    return max(1, round(sum(len(task.scored) for task in tasks) / len(tasks)))


def _power(question: str, design: PairedDesign, alpha: float, seed: int) -> PowerFigures:
    needed = detectable_difference(
        design, wanted=_POWER, alpha=alpha, seed=seed, simulations=_SIMULATIONS
    )
    plays = "once" if design.repeats == 1 else f"{design.repeats} times"
    said = f"{design.tasks} pairs, each side played {plays}, with the spread seen here,"
    says = (
        f"{said} find no difference in {_POWER:.0%} of studies: {needed.undefined or 'none'}."
        if needed.value is None
        else f"{said} find a difference of {points(needed.value, signed=False)} points in"
        f" {_POWER:.0%} of studies (alpha = {alpha:g}, before any correction), and smaller ones"
        " less often."
    )
    return PowerFigures(question=question, power=_POWER, detectable=needed.value, says=says)
