"""`rewards`: key nodes when first met, the outcome at the end, and nothing for the unscored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from quick_cases import SLOW
from support.agents.scripted_model import Says
from support.runs.evidence_changes import change
from support.runs.played_episode import ANSWER, NODE
from support.runs.sampled_runs import RIGHT, TO_KETTLE, TO_TEAPOT, WRONG, Sampled
from support.worlds.fake_world import browsing_task

from arena_core.worlds import World
from orchestrator import Arena
from orchestrator.analysis.run_report.run_report import read_run
from tasks.schema import Task

Play = Callable[..., Any]
Export = Callable[..., Any]

TEAPOT = {
    "name": "teapot",
    "when": "step",
    "locate": {"by": "url"},
    "match": {"how": "exact", "value": "wiki:/article/Teapot"},
}


async def test_a_key_node_earns_its_share_when_it_is_first_met(play: Play, export: Export) -> None:
    task = browsing_task(checks=[NODE, TEAPOT, ANSWER])
    run = await play([Sampled(task, [TO_KETTLE, TO_TEAPOT, TO_KETTLE, RIGHT])])
    _, records, _ = export("rewards", run)
    assert [one["reward_progress"] for one in records] == [0.5, 0.5, 0.0, 0.0]
    assert [one["key_nodes"] for one in records] == [["article"], ["teapot"], [], []]
    assert [one["reward_outcome"] for one in records] == [0.0, 0.0, 0.0, 1.0]
    assert [one["is_last"] for one in records] == [False, False, False, True]


@SLOW
async def test_the_rewards_of_an_episode_add_up_to_what_it_is_worth(
    play: Play, export: Export
) -> None:
    task = browsing_task(checks=[NODE, TEAPOT, ANSWER])
    run = await play([Sampled(task, [TO_KETTLE, WRONG]), Sampled(task, [TO_TEAPOT, RIGHT])])
    _, records, _ = export("rewards", run)
    for repeat, outcome in ((0, 0.0), (1, 1.0)):
        own = [one for one in records if one["repeat"] == repeat]
        assert sum(one["reward_progress"] for one in own) == own[0]["completion"] == 0.5
        assert sum(one["reward_outcome"] for one in own) == outcome


async def test_an_unscored_episode_earns_nothing_and_not_zero(
    play: Play, export: Export, task: Task
) -> None:
    run = await play([Sampled(task, [TO_KETTLE, Says(""), Says(""), Says("")])])
    _, [record], card = export("rewards", run)
    assert (record["outcome"], record["reason"]) == ("unscored", "infra")
    assert record["reward_outcome"] is None
    assert record["reward_progress"] is None
    assert card["tasks"][0]["unscored"] == 1


async def test_a_task_without_key_nodes_has_no_progress(play: Play, export: Export) -> None:
    run = await play([Sampled(browsing_task(), [WRONG])])
    _, [record], _ = export("rewards", run)
    assert (record["reward_progress"], record["reward_outcome"]) == (None, 0.0)


async def test_a_step_that_could_not_be_done_stays_with_its_error(
    play: Play, export: Export, task: Task
) -> None:
    run = await play([Sampled(task, [TO_KETTLE, RIGHT], refuses={"goto": "no way"})])
    _, records, _ = export("rewards", run)
    assert [one["error"] for one in records] == ["no way", ""]
    assert records[0]["messages"] is not None


@pytest.mark.parametrize(("observation", "has_prompt"), [(None, False), ("axtree", True)])
async def test_steps_without_a_prompt_have_rewards_all_the_same(
    play: Play, export: Export, task: Task, observation: str | None, *, has_prompt: bool
) -> None:
    run = await play([Sampled(task, [])], agent="oracle")
    _, records, _ = export("rewards", run, observation=observation)
    assert records[-1]["reward_outcome"] == 1.0
    assert (records[-1]["messages"] is not None) is has_prompt
    assert records[-1]["observation_digest"]


@SLOW
async def test_each_reward_joins_its_step_and_its_episode_in_the_tables(
    play: Play, export: Export, task: Task, tmp_path: Path
) -> None:
    right = [TO_KETTLE, RIGHT]
    run = await play(
        [
            Sampled(task, right, World.ONLINE),
            Sampled(task, [TO_KETTLE, WRONG]),
            Sampled(task, [Says(""), Says(""), Says("")]),
            Sampled(task, [TO_KETTLE, Says(""), Says(""), Says("")], World.ONLINE),
        ]
    )
    folder = run.folder
    lock = folder.path / "lock.json"
    lock.write_text(json.dumps(json.loads(lock.read_text()) | {"staged": ["wiki"]}))
    for one in run.episodes:
        if one.key.world is World.ONLINE:
            change(folder, one.folder, staged=["wiki"])

    _, records, _ = export("rewards", read_run(folder))
    tables = Arena().runs.export(folder.path, "parquet", tmp_path / "tables").path

    def rows(name: str, *keys: str) -> dict[tuple[object, ...], dict[str, Any]]:
        found = pq.read_table(tables / f"{name}.parquet").to_pylist()
        return {tuple(row[key] for key in keys): row for row in found}

    keys = ("run", "episode", "world", "task", "repeat")
    episodes, steps = rows("episodes", *keys), rows("steps", *keys, "step")
    assert {one["world"] for one in records} == {"offline", "online"}
    for record in records:
        key = tuple(record[name] for name in keys)
        row = episodes[key]
        assert steps[*key, record["step"]]["arguments"] == record["action"]
        for name in (
            *("suite", "suite_hash", "agent", "agent_class", "model", "run_seed", "task_seed"),
            *("staged", "attempt", "outcome", "reason", "completion"),
        ):
            assert row[name] == record[name], name
        assert row["site_images"] == ",".join(record["site_images"])
    assert {one["staged"] for one in records if one["world"] == "online"} == {"wiki"}
