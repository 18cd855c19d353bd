"""Stated confidence against outcomes: each task counts once, and too few say nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest
from support.studies.stats_rows import row

from arena_core.worlds import World
from orchestrator.analysis.stats.rates import mean_of
from orchestrator.analysis.stats.results import Cell, EpisodeResult, EpisodeTable
from orchestrator.analysis.studies.reliability import FEWEST, Calibration, calibration_of

CELL: Final = Cell("A", "s", World.OFFLINE)
OTHER: Final = Cell("B", "s", World.OFFLINE)

Played = Sequence[tuple[float | None, bool | None]]


def played(task: str, said: Played, *, agent: str = "A", template: str = "") -> list[EpisodeResult]:
    return [
        replace(
            row(task, success=won, repeat=number, agent=agent, template=template or None),
            confidence=sure,
        )
        for number, (sure, won) in enumerate(said)
    ]


def found_of(*rows: EpisodeResult) -> tuple[Calibration, ...]:
    return calibration_of([CELL, OTHER], EpisodeTable(rows), confidence=0.95)


def enough(said: Played) -> list[EpisodeResult]:
    """Play it once on each of so many tasks that there are figures."""
    return [one for n in range(FEWEST) for one in played(f"t{n}", [said[n % len(said)]])]


def test_who_is_always_sure_and_half_the_time_right_is_too_sure_by_half() -> None:
    one, _ = found_of(*enough([(1.0, True), (1.0, False)]))
    assert (one.confidence, one.success, one.excess, one.brier) == (1.0, 0.5, 0.5, 0.5)
    assert one.rate_brier == 0.25  # its own rate, each time, would have been nearer
    assert one.discrimination is not None
    assert one.discrimination.value == 0.5


def test_who_knows_what_it_does_not_know_is_told_from_a_guess() -> None:
    one, _ = found_of(*enough([(0.9, True), (0.1, False)]))
    assert one.excess == pytest.approx(0)
    assert one.brier == pytest.approx(0.01)
    assert one.discrimination is not None
    assert one.discrimination.value == 1.0


def test_too_little_confidence_is_below_zero() -> None:
    one, _ = found_of(*enough([(0.2, True), (0.3, True)]))
    assert one.excess == pytest.approx(-0.75)
    assert one.discrimination is not None
    assert one.discrimination.value is None


def test_each_task_counts_once_however_often_it_was_played() -> None:
    rows = played("often", [(1.0, False)] * FEWEST) + played("once", [(0.5, True)])
    one, _ = found_of(*rows)
    assert (one.stated, one.tasks) == (FEWEST + 1, 2)
    assert (one.confidence, one.success, one.excess) == (0.75, 0.5, 0.25)
    assert one.brier == (1.0 + 0.25) / 2
    values = [("s/often", 1.0), ("s/once", -0.5)]
    _, interval = mean_of(values, confidence=0.95)
    assert interval is not None
    assert one.excess_interval is not None
    assert one.excess_interval.low == max(-1.0, interval.low)
    assert one.excess_interval.high == min(1.0, interval.high)


def test_a_task_played_often_weighs_no_more_in_auroc() -> None:
    rows = [
        *played("often", [(0.9, True)] * FEWEST),
        *played("sure", [(0.8, True), (0.1, True)]),
        *played("lost", [(0.5, False)]),
    ]
    one, _ = found_of(*rows)
    assert one.discrimination is not None
    assert one.discrimination.value == pytest.approx((1 + 0.5) / 2)  # of pairs, it is 21 of 22


def test_an_interval_holds_nothing_that_there_cannot_be() -> None:
    one, _ = found_of(*played("a", [(1.0, False)] * FEWEST), *played("b", [(1.0, True)]))
    assert one.brier_interval is not None
    assert (one.brier_interval.low, one.brier_interval.high) == (0.0, 1.0)


def test_tasks_of_one_template_have_no_interval() -> None:
    rows = [
        one for n in range(FEWEST) for one in played(f"t{n}", [(0.5, n % 3 == 0)], template="x")
    ]
    one, _ = found_of(*rows)
    assert one.brier == 0.25
    assert (one.brier_interval, one.excess_interval) == (None, None)
    assert one.discrimination is not None
    assert one.discrimination.interval is None


def test_what_was_not_stated_or_not_scored_is_counted_and_in_no_figure() -> None:
    rows = enough([(1.0, True)])
    mute = played("mute", [(None, False), (None, True)])
    unscored = played("gone", [(0.0, None)])
    one, _ = found_of(*rows, *mute, *unscored)
    assert (one.stated, one.scored, one.brier) == (FEWEST, FEWEST + 2, 0.0)


def test_no_confidence_at_all_is_stated_as_well() -> None:
    one, _ = found_of(*enough([(0.0, True)]))
    assert (one.stated, one.confidence, one.brier) == (FEWEST, 0.0, 1.0)


def test_too_few_have_counts_and_no_figure() -> None:
    one, mute = found_of(*enough([(0.5, True)])[1:], *played("u", [(None, True)], agent="B"))
    assert (one.stated, one.tasks, one.brier, one.discrimination) == (19, 19, None, None)
    assert (mute.stated, mute.scored, mute.confidence) == (0, 1, None)


def test_a_study_in_which_nobody_said_a_word_says_nothing() -> None:
    assert found_of(*played("t", [(None, True)] * 30)) == ()
