"""Figures as they are drawn: places that are right, and nothing where there is nothing."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from support.studies.make_findings import make_findings

from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.study_report.figures import (
    agreement_plot,
    cell_track,
    cost_plots,
    effect_track,
    effects_scale,
    task_differences,
)
from orchestrator.analysis.study_report.tracks import SHARES, differences, element, points_of

FOUND = make_findings()


def _lines(drawn: str, kind: str) -> list[tuple[float, float]]:
    pattern = rf'<line x1="([\d.]+)%" x2="([\d.]+)%"[^>]* class="{kind}"'
    return [(float(one[1]), float(one[2])) for one in re.finditer(pattern, drawn)]


def test_a_scale_keeps_its_ends_and_ticks_at_round_values() -> None:
    assert [SHARES.at(value) for value in (0, 0.5, 1)] == [2, 50, 98]
    assert SHARES.at(-3) == SHARES.at(0)
    assert list(SHARES.ticks) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert differences([0.03, -0.21, None]).high == 0.3
    assert differences([]).high == 0.1
    assert list(differences([-1.0]).ticks) == [-1, -0.5, 0, 0.5, 1]
    assert list(differences([0.04]).ticks) == [-0.1, -0.05, 0, 0.05, 0.1]


def test_points_have_a_sign_and_no_minus_zero() -> None:
    assert (points_of(0.123), points_of(-0.05), points_of(-0.0001)) == ("+12.3", "−5.0", "0.0")


def test_attributes_and_contents_are_escaped() -> None:
    drawn = element("text", "<b>", x='"><script>')
    assert "<b>" not in drawn
    assert "<script>" not in drawn


def test_the_forest_plot_shows_rate_intervals_and_bounds_where_they_are() -> None:
    cell = replace(
        FOUND.cells[0],
        success=0.5,
        clustered=Interval(0.25, 0.75),
        wilson=Interval(0.3, 0.7),
        bounds=Interval(0.4, 0.6),
        unscored=((UnscoredReason.INFRA, 4),),
    )
    drawn = cell_track(cell)
    assert _lines(drawn, "thick") == [(26, 74)]
    assert _lines(drawn, "thin") == [(30.8, 69.2)]
    assert _lines(drawn, "bound dashed") == [(40.4, 59.6)]
    assert '<circle cx="50%"' in drawn
    online = replace(cell, cell=replace(cell.cell, world=World.ONLINE))
    assert "square" in cell_track(online)


def test_bounds_are_drawn_only_over_what_is_unscored() -> None:
    cell = replace(FOUND.cells[0], bounds=Interval(0.5, 0.5), unscored=())
    assert "bound" not in cell_track(cell)
    answer = replace(FOUND.answers[0], effect=0.2, bounds=Interval(0.2, 0.2 + 1e-16))
    assert "bound" not in effect_track(answer, differences([0.4]))


def test_limits_of_agreement_beyond_what_can_be_are_not_drawn_at_the_edge() -> None:
    beyond = replace(FOUND.agreement[0], limits=Interval(-0.2, 1.4), high_limit_interval=None)
    assert agreement_plot(beyond).count("bound dashed") == 1


def test_a_cell_without_a_score_has_no_mark() -> None:
    empty = replace(FOUND.cells[0], success=None, clustered=None, wilson=None, bounds=None)
    assert "mark" not in cell_track(empty)
    assert not _lines(cell_track(empty), "thick")


def test_an_equivalence_shows_its_margin_and_the_interval_that_decides() -> None:
    answer = next(one for one in FOUND.answers if one.question.margin is not None)
    scale = effects_scale([answer])
    drawn = effect_track(answer, scale)
    assert answer.deciding_interval is not None
    [(low, high)] = _lines(drawn, "thick")
    assert low == pytest.approx(scale.at(answer.deciding_interval.low), abs=0.01)
    assert high == pytest.approx(scale.at(answer.deciding_interval.high), abs=0.01)
    assert _lines(drawn, "thin")
    assert 'class="margin"' in drawn


def test_each_pair_that_the_answer_counts_is_a_bar_from_the_largest_to_the_smallest() -> None:
    answer = replace(FOUND.answers[0], differences=(-0.2, 0.0, 1.0, 0.6))
    drawn = task_differences(answer)
    assert drawn is not None
    assert (drawn.count, drawn.most) == (4, 1)
    assert (drawn.first_better, drawn.equal, drawn.second_better) == (2, 1, 1)
    bars = re.findall(r'class="(first|equal|second)"', drawn.plot)
    assert bars == ["first", "first", "equal", "second"]
    assert task_differences(replace(answer, differences=())) is None


def test_cost_is_drawn_only_where_there_is_some() -> None:
    assert [one.by for one in cost_plots(FOUND.cells, str)] == ["US dollars", "tokens", "seconds"]
    paid = replace(FOUND.cells[0].spending, usd_per_episode=None, tokens_per_episode=0.0)
    free = [replace(FOUND.cells[0], spending=paid)]
    assert [one.by for one in cost_plots(free, str)] == ["seconds"]


def test_agreement_is_drawn_with_few_points_too() -> None:
    [first, *_] = FOUND.agreement
    places = {(one.mean, one.difference) for one in first.points}
    assert agreement_plot(first).count("<circle") == len(places)
    twice = replace(first, points=first.points[:1] * 3)
    assert agreement_plot(twice).count("<circle") == 1
    assert ">3×<" in agreement_plot(twice)
    alone = replace(first, points=first.points[:1], bias=None, bias_interval=None, limits=None)
    assert agreement_plot(alone).count("<circle") == 1
