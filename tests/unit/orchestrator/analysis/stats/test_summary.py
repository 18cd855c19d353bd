from __future__ import annotations

from collections.abc import Callable

import pytest

from evaluators.evidence import UnscoredReason
from evaluators.scores import Score
from orchestrator.analysis.stats.rates import Interval
from orchestrator.analysis.stats.summary import TaskScores, success_share, summarise

MakeScore = Callable[..., Score]


def test_repeats_are_averaged_inside_their_task_first(make_score: MakeScore) -> None:
    won, lost = make_score(), make_score(won=False)
    summary = summarise({"often": [lost] * 9 + [won], "once": [won]})
    assert summary.success.value == pytest.approx((0.1 + 1) / 2)
    assert summary.success.count == 2
    assert (summary.tasks, summary.episodes, summary.scored) == (2, 11, 11)


def test_what_is_unscored_is_counted_and_is_no_failure(make_score: MakeScore) -> None:
    infra = make_score(unscored=UnscoredReason.INFRA)
    drifted = make_score(unscored=UnscoredReason.DRIFTED)
    summary = summarise({"a": [make_score()], "b": [infra], "c": [drifted], "d": [drifted]})
    assert summary.success.value == 1.0
    assert summary.success.count == 1
    assert summary.scored == 1
    assert summary.unscored == ((UnscoredReason.DRIFTED, 2), (UnscoredReason.INFRA, 1))


def test_bounds_take_every_unscored_episode_both_ways(make_score: MakeScore) -> None:
    won, lost = make_score(), make_score(won=False)
    gone = make_score(unscored=UnscoredReason.BLOCKED)
    summary = summarise({"a": [won], "b": [lost], "c": [gone], "d": [won, gone]})
    assert summary.bounds == Interval((1 + 0 + 0 + 0.5) / 4, (1 + 0 + 1 + 1) / 4)
    certain = summarise({"a": [won], "b": [lost]})
    assert certain.bounds == Interval(0.5, 0.5)


def test_macro_weighs_tasks_alike_and_micro_weighs_key_nodes_alike(make_score: MakeScore) -> None:
    summary = summarise(
        {"small": [make_score(nodes=(1, 1))], "large": [make_score(nodes=(0, 3), won=False)]}
    )
    assert summary.macro_completion == 0.5
    assert summary.micro_completion == 0.25


def test_completion_leaves_out_tasks_without_key_nodes(make_score: MakeScore) -> None:
    summary = summarise({"noded": [make_score(nodes=(1, 2))], "plain": [make_score()]})
    assert summary.macro_completion == 0.5
    assert (summary.sr0.count, summary.success.count) == (1, 2)


def test_sr_forgives_no_or_one_missing_key_node(make_score: MakeScore) -> None:
    summary = summarise(
        {
            "all": [make_score(nodes=(3, 3), won=False)],
            "one missing": [make_score(nodes=(2, 3), won=False)],
            "two missing": [make_score(nodes=(1, 3), won=False)],
            "half": [make_score(nodes=(3, 3)), make_score(nodes=(0, 3), won=False)],
        }
    )
    assert summary.sr0.value == pytest.approx(1.5 / 4)
    assert summary.sr1.value == pytest.approx(2.5 / 4)


def test_efficiency_charges_the_steps_of_episodes_that_met_nothing(make_score: MakeScore) -> None:
    summary = summarise(
        {
            "good": [make_score(nodes=(2, 2), steps=4)],
            "lost": [make_score(nodes=(0, 2), steps=6, won=False)],
        }
    )
    assert summary.efficiency == 5.0
    assert summary.steps == 5.0


def test_efficiency_is_undefined_where_nothing_was_met(make_score: MakeScore) -> None:
    assert summarise({"a": [make_score(nodes=(0, 2), won=False)]}).efficiency is None


def test_alignment_is_the_mean_of_the_tasks(make_score: MakeScore) -> None:
    one, other = make_score(nodes=(1, 1), alignment=0.95), make_score(nodes=(1, 2), alignment=0.4)
    assert summarise({"a": [one], "b": [other, other]}).alignment == pytest.approx(0.675)


def test_nothing_played_says_nothing(make_score: MakeScore) -> None:
    nothing: list[TaskScores] = [{}, {"a": []}]
    for scores in nothing:
        summary = summarise(scores)
        assert summary.success.value is None
        assert summary.bounds is None
        assert summary.macro_completion is None
        assert summary.steps is None
    gone = summarise({"a": [make_score(unscored=UnscoredReason.INFRA)]})
    assert gone.success.value is None
    assert gone.bounds == Interval(0.0, 1.0)


def test_a_tasks_share_is_over_its_scored_repeats(make_score: MakeScore) -> None:
    gone = make_score(unscored=UnscoredReason.INFRA)
    assert success_share([make_score(), make_score(won=False), gone]) == 0.5
    assert success_share([gone]) is None


def test_intervals_go_by_the_clusters_of_tasks(make_score: MakeScore) -> None:
    scores = {str(task): [make_score(won=task < 10)] for task in range(20)}
    templates = {name: str(int(name) // 5) for name in scores}

    apart, alike = summarise(scores).success, summarise(scores, clusters=templates).success

    assert apart.value == alike.value == 0.5
    assert apart.interval is not None
    assert alike.interval is not None
    assert alike.interval.low < apart.interval.low - 0.1
    assert summarise(scores, clusters=dict.fromkeys(scores, "one")).success.interval is None
