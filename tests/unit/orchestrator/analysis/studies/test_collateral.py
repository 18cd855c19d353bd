"""Collateral changes of a cell: over what was looked at alone, each task counting once."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from support.studies.stats_rows import row

from arena_core.worlds import World
from evaluators.changes import ChangeKind
from evaluators.collateral import Collateral, CollateralKind
from orchestrator.analysis.stats.rates import clustered_mean
from orchestrator.analysis.stats.results import Cell, EpisodeResult, EpisodeTable
from orchestrator.analysis.studies.reliability import CollateralFigures, collateral_figures

CELL: Final = Cell("A", "s", World.OFFLINE)
OTHER: Final = Cell("B", "s", World.OFFLINE)
CLEAN: Final = Collateral()
LOST: Final = Collateral(
    counts=((CollateralKind.ROWS_REMOVED, 2), (CollateralKind.ROWS_ADDED, 1)),
    worst=ChangeKind.REMOVED,
)
MORE: Final = Collateral(
    counts=((CollateralKind.ROWS_ADDED, 3),), worst=ChangeKind.ADDED, is_extra=True
)


def played(
    task: str, *found: Collateral | None, agent: str = "A", template: str | None = None
) -> list[EpisodeResult]:
    return [
        replace(
            row(task, success=one == CLEAN, repeat=number, agent=agent, template=template),
            collateral=one,
        )
        for number, one in enumerate(found)
    ]


def figures(*rows: EpisodeResult) -> tuple[CollateralFigures, ...]:
    return collateral_figures([CELL, OTHER], EpisodeTable(rows), confidence=0.95)


def test_each_task_counts_once_however_often_it_was_played() -> None:
    found, _ = figures(
        *played("t", LOST, CLEAN, CLEAN, CLEAN), *played("u", MORE), *played("v", CLEAN)
    )
    assert found.harmed.value == (0.25 + 1 + 0) / 3
    assert (found.harmed.episodes, found.harmed.tasks) == (6, 3)
    shares = [("s/t", 0.25), ("s/u", 1.0), ("s/v", 0.0)]
    assert found.harmed.interval == clustered_mean(shares, episodes=6).interval


def test_tasks_of_one_template_have_no_interval() -> None:
    found, _ = figures(*played("t", LOST, template="x"), *played("u", CLEAN, template="x"))
    assert (found.harmed.value, found.harmed.interval) == (0.5, None)


def test_episodes_in_which_nothing_was_looked_at_are_in_no_share() -> None:
    found, _ = figures(*played("t", LOST, CLEAN), *played("u", None, None))
    assert (found.harmed.value, found.harmed.episodes, found.scored) == (0.5, 2, 4)


def test_unscored_episodes_are_in_no_share() -> None:
    unscored = replace(row("t", success=None, repeat=9), collateral=LOST)
    found, _ = figures(*played("t", CLEAN), unscored)
    assert (found.harmed.value, found.harmed.episodes, found.scored, found.changes) == (0, 1, 1, ())


def test_harm_is_counted_by_the_worst_of_an_episode_and_changes_by_their_kind() -> None:
    found, _ = figures(*played("t", LOST, MORE), *played("u", MORE))
    assert found.worst == ((ChangeKind.REMOVED, 1), (ChangeKind.ADDED, 2))
    assert dict(found.changes) == {CollateralKind.ROWS_REMOVED: 2, CollateralKind.ROWS_ADDED: 7}
    assert found.extra == 2


def test_a_cell_without_a_look_has_no_share_beside_one_that_has() -> None:
    _, blind = figures(*played("t", LOST), *played("u", None, agent="B"))
    assert (blind.cell, blind.harmed.value, blind.harmed.episodes) == (OTHER, None, 0)


def test_a_study_whose_tasks_never_look_says_nothing() -> None:
    assert figures(*played("t", None), *played("u", None, agent="B")) == ()
