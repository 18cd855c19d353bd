"""Values of steps: what is unscored is no zero, and unequal states have no common value."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.runs.played_episode import ANSWER, NODE
from support.runs.rollout_runs import FakeEnvironments, rolled_out
from support.runs.sampled_runs import RIGHT, TO_KETTLE, TO_TEAPOT, WRONG, Sampled, sampled_run
from support.worlds.fake_world import FakeWorld, browsing_task

from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.analysis.run_report.step_values import StepValue, step_values
from orchestrator.analysis.run_report.tables import VALUES, rows_of
from orchestrator.analysis.stats.rates import wilson
from orchestrator.runs.store.rescoring import ScoredEpisode


@pytest.fixture
async def source(tmp_path: Path) -> RunReport:
    task = browsing_task(checks=[NODE, ANSWER])
    replies = [TO_KETTLE, TO_TEAPOT, WRONG]
    return await sampled_run(tmp_path / "source", [Sampled(task, replies)], run="source")


def bad_last(number: int, world: FakeWorld) -> None:
    """The fourth rollout never sees the page of its checkpoint."""
    if number > 3:
        world.title = "Another page"


async def rollouts(folder: Path, source: RunReport) -> RunReport:
    """Three scored rollouts of one step, and one that could not be proven equal."""
    return await rolled_out(
        folder,
        source,
        "1",
        [RIGHT, WRONG, RIGHT],
        count=4,
        environments=FakeEnvironments(bad_last),
    )


@SLOW
async def test_a_value_is_of_the_scored_rollouts_alone(tmp_path: Path, source: RunReport) -> None:
    run = await rollouts(tmp_path / "run", source)
    (value,) = step_values(run.episodes)
    assert value.rate.value == pytest.approx(2 / 3)
    assert (value.right, value.rate.count, value.unscored) == (2, 3, 1)
    assert value.rate.interval == wilson(2 / 3, 3)
    assert (value.root, value.step) == (f"source/{source.episodes[0].folder}", 1)
    (row,) = [row for found in rows_of([run]) for row in found[VALUES.name]]
    assert row[5:] == (True, value.rate.value, *_bounds(value), 3, 2, 1)
    assert run.to_pandas("values")["unscored"].sum() == 1


def _bounds(value: StepValue) -> tuple[float, float]:
    assert value.rate.interval is not None
    return value.rate.interval.low, value.rate.interval.high


@SLOW
async def test_a_step_without_a_scored_rollout_has_no_value(
    tmp_path: Path, source: RunReport
) -> None:
    never = FakeEnvironments(lambda number, world: bad_last(4, world))
    run = await rolled_out(tmp_path / "run", source, "1", [], environments=never)
    (value,) = step_values(run.episodes)
    assert (value.rate.value, value.rate.interval, value.unscored) == (None, None, 2)


@SLOW
async def test_rollouts_of_unequal_states_share_no_value(tmp_path: Path, source: RunReport) -> None:
    """A second process takes the checkpoint again; it may be another state then."""
    run = await rollouts(tmp_path / "run", source)
    one, two, three, lost = run.episodes
    moved = step_values([in_state(one, "a"), in_state(two, "b"), in_state(three, "a"), lost])
    assert [(found.states, found.rate.count, found.right) for found in moved] == [
        ("shop=a", 2, 2),
        ("shop=b", 1, 0),
        ("", 0, 0),
    ]
    assert [found.unscored for found in moved] == [0, 0, 1]


def in_state(episode: ScoredEpisode, state: str) -> ScoredEpisode:
    branch = episode.outline.branch
    assert branch is not None
    changed = branch.model_copy(update={"states": {"shop": state}})
    return replace(episode, outline=episode.outline.model_copy(update={"branch": changed}))


async def test_an_ordinary_run_has_no_values(source: RunReport) -> None:
    assert [row for found in rows_of([source]) for row in found[VALUES.name]] == []
