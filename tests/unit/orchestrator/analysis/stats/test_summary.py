from __future__ import annotations

import pytest
from support.studies.stats_rows import Play, played

from evaluators.evidence import UnscoredReason
from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.stats.summary import summarise


def test_repeats_are_averaged_inside_their_task_first() -> None:
    won, lost = Play(), Play(won=False)
    summary = summarise(played({"often": [lost] * 9 + [won], "once": [won]}))
    assert summary.success.value == pytest.approx((0.1 + 1) / 2)
    assert summary.success.count == 2
    assert (summary.tasks, summary.episodes, summary.scored) == (2, 11, 11)


def test_what_is_unscored_is_counted_and_is_no_failure() -> None:
    infra = Play(unscored=UnscoredReason.INFRA)
    drifted = Play(unscored=UnscoredReason.DRIFTED)
    summary = summarise(played({"a": [Play()], "b": [infra], "c": [drifted], "d": [drifted]}))
    assert summary.success.value == 1.0
    assert summary.success.count == 1
    assert summary.scored == 1
    assert summary.unscored == ((UnscoredReason.DRIFTED, 2), (UnscoredReason.INFRA, 1))


def test_bounds_take_every_unscored_episode_both_ways() -> None:
    won, lost = Play(), Play(won=False)
    gone = Play(unscored=UnscoredReason.BLOCKED)
    summary = summarise(played({"a": [won], "b": [lost], "c": [gone], "d": [won, gone]}))
    assert summary.bounds == Interval((1 + 0 + 0 + 0.5) / 4, (1 + 0 + 1 + 1) / 4)
    certain = summarise(played({"a": [won], "b": [lost]}))
    assert certain.bounds == Interval(0.5, 0.5)


def test_macro_weighs_tasks_alike_and_micro_weighs_key_nodes_alike() -> None:
    summary = summarise(
        played({"small": [Play(nodes=(1, 1))], "large": [Play(nodes=(0, 3), won=False)]})
    )
    assert summary.macro_completion == 0.5
    assert summary.micro_completion == 0.25


def test_completion_leaves_out_tasks_without_key_nodes() -> None:
    summary = summarise(played({"noded": [Play(nodes=(1, 2))], "plain": [Play()]}))
    assert summary.macro_completion == 0.5
    assert (summary.sr0.count, summary.success.count) == (1, 2)


def test_sr_forgives_no_or_one_missing_key_node() -> None:
    summary = summarise(
        played(
            {
                "all": [Play(nodes=(3, 3), won=False)],
                "one missing": [Play(nodes=(2, 3), won=False)],
                "two missing": [Play(nodes=(1, 3), won=False)],
                "half": [Play(nodes=(3, 3)), Play(nodes=(0, 3), won=False)],
            }
        )
    )
    assert summary.sr0.value == pytest.approx(1.5 / 4)
    assert summary.sr1.value == pytest.approx(2.5 / 4)


def test_efficiency_charges_the_steps_of_episodes_that_met_nothing() -> None:
    summary = summarise(
        played(
            {
                "good": [Play(nodes=(2, 2), steps=4)],
                "lost": [Play(nodes=(0, 2), steps=6, won=False)],
            }
        )
    )
    assert summary.efficiency == 5.0
    assert summary.steps == 5.0


def test_efficiency_is_undefined_where_nothing_was_met() -> None:
    assert summarise(played({"a": [Play(nodes=(0, 2), won=False)]})).efficiency is None


def test_alignment_is_the_mean_of_the_tasks() -> None:
    one, other = Play(nodes=(1, 1), alignment=0.95), Play(nodes=(1, 2), alignment=0.4)
    assert summarise(played({"a": [one], "b": [other, other]})).alignment == pytest.approx(0.675)


def test_nothing_played_says_nothing() -> None:
    summary = summarise(played({}))
    assert summary.success.value is None
    assert summary.bounds is None
    assert summary.macro_completion is None
    assert summary.steps is None
    gone = summarise(played({"a": [Play(unscored=UnscoredReason.INFRA)]}))
    assert gone.success.value is None
    assert gone.bounds == Interval(0.0, 1.0)


def test_intervals_go_by_the_clusters_of_tasks() -> None:
    scores = {str(task): [Play(won=task < 10)] for task in range(20)}
    templates = {name: str(int(name) // 5) for name in scores}

    apart, alike = (
        summarise(played(scores)).success,
        summarise(played(scores, templates=templates)).success,
    )

    assert apart.value == alike.value == 0.5
    assert apart.interval is not None
    assert alike.interval is not None
    assert alike.interval.low < apart.interval.low - 0.1
    of_one = played(scores, templates=dict.fromkeys(scores, "one"))
    assert summarise(of_one).success.interval is None
