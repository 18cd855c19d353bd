"""Branches of one root are one cluster: no rate, interval, pass^k or pack counts them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.runs.played_episode import ANSWER
from support.runs.rollout_runs import rolled_out
from support.runs.sampled_runs import RIGHT, TO_KETTLE, WRONG, Sampled, sampled_run
from support.worlds.fake_world import browsing_task

from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator import Arena
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.export.training.bands import Band
from orchestrator.export.training.sampling import plan_sample

Call = Callable[..., Ended]


@pytest.fixture
async def source(tmp_path: Path) -> RunReport:
    task = browsing_task(checks=[ANSWER])
    return await sampled_run(tmp_path / "source", [Sampled(task, [TO_KETTLE, WRONG])], run="source")


@pytest.fixture
async def branches(tmp_path: Path, source: RunReport) -> RunReport:
    """Four branches of one root, three of which succeed."""
    replies = [RIGHT, RIGHT, WRONG, RIGHT]
    return await rolled_out(tmp_path / "branches", source, "1", replies, count=4)


@SLOW
async def test_four_branches_are_not_four_episodes_of_a_rate(
    tmp_path: Path, branches: RunReport
) -> None:
    tasks = [browsing_task(checks=[ANSWER]).model_copy(update={"id": name}) for name in "ab"]
    whole = await sampled_run(
        tmp_path / "whole",
        [Sampled(task, [reply]) for task in tasks for reply in (RIGHT, RIGHT, WRONG, RIGHT)],
    )
    assert whole.summaries[World.OFFLINE].success.interval is not None
    summary = branches.summaries[World.OFFLINE]
    assert (summary.tasks, summary.episodes, summary.scored) == (0, 0, 0)
    assert (summary.success.value, summary.success.interval, summary.bounds) == (None, None, None)
    assert branches.branches is not None
    assert branches.branches.startswith("4 episodes go on from checkpoints of 1 other")
    assert whole.branches is None
    assert whole.values == ()


async def test_they_are_no_attempts_of_a_comparison(source: RunReport, branches: RunReport) -> None:
    """Beside its root they would make five repeats, and a pass^4."""
    with pytest.raises(UsageError, match="goes on from a checkpoint of another episode"):
        Arena().runs.compare([("a", source.folder.path), ("b", branches.folder.path)])


@SLOW
async def test_they_do_not_say_how_hard_a_task_is(source: RunReport, branches: RunReport) -> None:
    suite = source.folder.suite()
    with pytest.raises(UsageError, match="no finished episode"):
        plan_sample(
            suite, (), worlds=[World.OFFLINE], measured=[branches], bands=[Band.EASY], split=None
        )


@SLOW
async def test_inspect_counts_them_as_no_epochs(tmp_path: Path, branches: RunReport) -> None:
    written = Arena().runs.export(branches.folder.path, "inspect", tmp_path / "logs")
    assert written.episodes == 0
    assert {one.why for one in written.left_out} == {"is a branch, and no epoch of its task"}
    assert len(written.left_out) == 4


@SLOW
@pytest.mark.parametrize("form", ["webvoyager", "online-mind2web"])
async def test_no_pack_for_a_leaderboard_holds_them(branches: RunReport, form: str) -> None:
    with pytest.raises(UsageError, match="takes whole attempts"):
        Arena().runs.export(branches.folder.path, form)


@SLOW
async def test_reports_say_what_is_left_out_and_what_the_step_is_worth(
    branches: RunReport, call: Call
) -> None:
    shown = call("report", str(branches.folder.path)).out
    assert "4 episodes go on from checkpoints of 1 other" in shown
    assert "after step 1 (told what was done): 75% of 4 scored rollouts" in shown
    page = (branches.folder.path / "report.html").read_text(encoding="utf-8")
    assert "after step 1 (told what was done): 75% of 4 scored rollouts" in page
    assert "4 rollouts from 1 step " in page
    told = json.loads(call("report", str(branches.folder.path), "--json").out)
    assert told["branches"] == 4
    assert told["totals"]["offline"]["success"] is None
    assert [(one["step"], one["value"], one["scored"]) for one in told["values"]] == [(1, 0.75, 4)]


@SLOW
async def test_a_lost_ledger_makes_them_no_attempts(branches: RunReport) -> None:
    branches.folder.ledger_path.unlink()
    again = read_run(branches.folder)
    assert len(again.episodes) == 4
    assert again.summaries[World.OFFLINE].episodes == 0
