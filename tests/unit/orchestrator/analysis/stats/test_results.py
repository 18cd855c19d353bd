from __future__ import annotations

import pytest
from support.studies.stats_rows import row

from arena_core.errors import InputError
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.analysis.stats.results import (
    Compared,
    EpisodeTable,
    TaskOutcomes,
    success_rate,
)


def test_repeats_of_a_task_are_one_unit_in_their_order() -> None:
    rows = [row("a", repeat=1, success=False), row("a", repeat=0), row("b", success=None)]
    assert [task.outcomes for task in EpisodeTable(rows).tasks] == [(True, False), (None,)]


def test_the_unscored_are_counted_and_are_no_failures() -> None:
    [task] = EpisodeTable([row("a", repeat=0), row("a", repeat=1, success=None)]).tasks
    assert (task.share, task.unscored) == (1.0, 1)


def test_a_task_without_an_outcome_has_no_share_and_none_counts_in_the_rate() -> None:
    tasks = EpisodeTable([row("a"), row("b", success=None)]).tasks
    assert [task.share for task in tasks] == [1.0, None]
    assert success_rate(tasks) == 1.0
    assert success_rate(tasks[1:]) is None


def test_tasks_of_one_template_are_a_cluster_within_their_suite_only() -> None:
    rows = [row("a", template="t"), row("b", template="t"), row("c", template="t", suite="other")]
    assert [task.cluster for task in EpisodeTable(rows).tasks] == ["s/t", "s/t", "other/t"]


def test_an_episode_that_stands_there_twice_is_refused_and_not_counted_twice() -> None:
    with pytest.raises(InputError, match="counts 2 times: A, s/a, offline, repeat 0"):
        EpisodeTable([row("a"), row("a", run="a copy of the folder")])


def test_a_repeat_of_a_later_run_is_another_episode() -> None:
    later = row("a", started_at="2026-02-02T00:00:00+00:00")
    assert [len(task.outcomes) for task in EpisodeTable([row("a"), later]).tasks] == [2]


def test_agents_are_paired_within_their_world() -> None:
    first = [row("a"), row("a", world=World.ONLINE, success=False)]
    second = [row("a", agent="B", success=False), row("b", agent="B")]
    pairs = EpisodeTable(first).paired_with(EpisodeTable(second), Compared.AGENTS)
    assert [(pair.first, pair.second, pair.difference) for pair in pairs] == [
        ((True,), (False,), 1.0),
        ((False,), (), None),
        ((), (True,), None),
    ]


def test_worlds_are_paired_within_their_agent() -> None:
    online = [row("a", world=World.ONLINE, success=None, reason=UnscoredReason.BLOCKED)]
    [pair] = EpisodeTable([row("a")]).paired_with(EpisodeTable(online), Compared.WORLDS)
    assert (pair.first, pair.second, pair.difference) == ((True,), (None,), None)


def test_the_same_task_of_two_worlds_is_one_cluster() -> None:
    tasks = EpisodeTable([row("a"), row("a", world=World.ONLINE)]).tasks
    assert len(tasks) == 2
    assert {task.cluster for task in tasks} == {"s/a"}


def test_no_outcome_at_all_is_no_share() -> None:
    assert TaskOutcomes("a", "a", ()).share is None
