"""Training data of branches: pairs from one proven state, and no step of a root as a branch's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW
from support.runs.rollout_runs import rolled_out
from support.runs.sampled_runs import RIGHT, TO_KETTLE, TO_TEAPOT, WRONG, Sampled

from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.export.training.rollouts import rollout_of
from tasks.schema import Task

Play = Callable[..., Any]
Export = Callable[..., Any]


@pytest.fixture
async def source(play: Play, task: Task) -> RunReport:
    run: RunReport = await play([Sampled(task, [TO_KETTLE, TO_TEAPOT, WRONG])], name="source")
    return run


@SLOW
async def test_a_pair_is_of_one_checkpoint_and_names_it_and_its_branches(
    tmp_path: Path, source: RunReport, export: Export
) -> None:
    run = await rolled_out(tmp_path / "rollouts", source, "1", [RIGHT, WRONG])
    _, (record,), _ = export("dpo", run)
    assert record["branch_root"] == f"source/{source.episodes[0].folder}"
    assert (record["branch_step"], record["checkpoint"], record["step"]) == (1, "step 1", 2)
    assert [record[side]["episode"] for side in ("chosen_from", "rejected_from")] == [
        "offline-kettle-r0-a1",
        "offline-kettle-r1-a1",
    ]
    assert (record["state_n"], record["state_right"], record["is_final"]) == (2, 1, True)


@SLOW
async def test_branches_of_unequal_checkpoints_are_no_pair(
    tmp_path: Path, source: RunReport, export: Export
) -> None:
    """Two roots show the same page by other steps, or another process took the checkpoint anew."""
    other = await rolled_out(tmp_path / "other", source, "1,2", [RIGHT, WRONG], count=1)
    assert export("dpo", other)[1] == []

    run = await rolled_out(tmp_path / "run", source, "1", [RIGHT, WRONG])
    first, second = run.episodes
    branch = second.outline.branch
    assert branch is not None
    moved = branch.model_copy(update={"states": {"wiki": "another"}})
    outline = second.outline.model_copy(update={"branch": moved})
    (row,) = run.rows
    unequal = {world: (first, replace(second, outline=outline)) for world in row.episodes}
    changed = replace(run, rows=(replace(row, episodes=unequal),))
    assert export("dpo", changed)[1] == []


@SLOW
async def test_a_branch_and_an_attempt_are_no_pair_either(
    tmp_path: Path, play: Play, task: Task, export: Export
) -> None:
    """The attempt was proven since its start, the branch since its checkpoint."""
    source = await play([Sampled(task, [TO_KETTLE, WRONG])], name="source")
    run = await rolled_out(tmp_path / "rollouts", source, "1", [RIGHT], count=1)
    assert export("dpo", run, source)[1] == []


@SLOW
@pytest.mark.parametrize("form", ["sft", "rft", "rewards"])
async def test_what_the_root_did_is_no_record_of_its_branches(
    tmp_path: Path, source: RunReport, export: Export, form: str
) -> None:
    run = await rolled_out(tmp_path / "rollouts", source, "1", [RIGHT, TO_TEAPOT, RIGHT])
    _, records, card = export(form, run)
    assert min(record["step"] for record in records) == 2
    assert {record["branch_step"] for record in records} == {1}
    assert all(record["n"] == 0 for record in records)  # its task was not attempted once
    assert [(one["right"], one["wrong"]) for one in card["tasks"]] == [(0, 0)]


async def test_the_first_turn_of_a_branch_is_what_was_seen_at_the_checkpoint(
    tmp_path: Path, source: RunReport
) -> None:
    run = await rolled_out(tmp_path / "rollouts", source, "1", [RIGHT, RIGHT])
    (first, _) = (rollout_of(run, one) for one in run.episodes)
    (turn,) = first.turns
    (_, second, _) = rollout_of(source, source.episodes[0]).turns
    assert turn.seen is not None
    assert turn.seen == second.seen
