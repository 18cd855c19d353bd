"""Runs as ATIF: valid by the schema of the harbor package, unscored without a reward.

`atif_schema.json` is what harbor 0.25.0 (Apache-2.0) says of its own `Trajectory` model; harbor
itself needs a later Python than Arena. What its validators ask beyond the schema is asked here too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from quick_cases import ONE_QUICK, SLOW
from support.runs.made_run import picture
from support.runs.played_episode import ANSWER, NODE
from support.runs.rollout_runs import rolled_out
from support.runs.sampled_runs import RIGHT, TO_KETTLE, TO_TEAPOT, WRONG, Sampled, sampled_run
from support.worlds.fake_world import browsing_task

from orchestrator import Arena
from orchestrator.agents.model_exchange import ModelExchange, TokenUsage
from orchestrator.episode.jsonl_files import EXCHANGES_FILE, ExchangeWriter, StepLines
from orchestrator.runs.store.run_folder import RunFolder

SCHEMA = json.loads((Path(__file__).parent / "atif_schema.json").read_text())
AGENTS_OWN = {"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"}


def trajectories(run: RunFolder, **options: object) -> dict[str, dict[str, Any]]:
    """Export a run, and return its trajectories by episode, each of them validated."""
    folder = Arena().runs.export(run.path, "atif", options=options).path
    found = {path.parent.name: path for path in folder.rglob("trajectory.json")}
    return {name: valid(path) for name, path in found.items()}


def valid(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(found, SCHEMA)
    for number, step in enumerate(found["steps"], 1):
        assert step["step_id"] == number
        assert step["source"] == "agent" or not AGENTS_OWN & step.keys()
        calls = {one["tool_call_id"] for one in step.get("tool_calls", ())}
        for result in step.get("observation", {"results": ()})["results"]:
            assert result.get("source_call_id") in {None, *calls}
            for part in result["content"] if isinstance(result["content"], list) else ():
                if part["type"] == "image":
                    assert (path.parent / part["source"]["path"]).is_file()
    return found


@SLOW
def test_each_episode_is_a_trajectory(run: RunFolder) -> None:
    found = trajectories(run)
    assert len(found) == 11
    one = found["offline-agrees-r0-a1"]
    assert [step["source"] for step in one["steps"]] == ["user", "agent", "agent", "agent"]
    assert one["steps"][0]["message"] == "What does the kettle cost?"
    calls = [step["tool_calls"][0]["function_name"] for step in one["steps"][1:]]
    assert calls == ["type", "click", "stop"]
    assert one["agent"]["extra"]["agent_class"] == "reference"
    assert one["final_metrics"]["total_steps"] == 4


@SLOW
def test_what_is_unscored_has_no_reward(run: RunFolder) -> None:
    rewards = {name: one["extra"]["reward"] for name, one in trajectories(run).items()}
    assert {name for name, reward in rewards.items() if reward is None} == {
        "online-gone-r0-a1",
        "offline-broken-r0-a3",
    }
    assert rewards["offline-agrees-r0-a1"] == 1.0
    assert rewards["online-parts-r0-a1"] == 0.0


@SLOW
def test_an_episode_that_never_began_is_a_trajectory_too(run: RunFolder) -> None:
    path = run.evidence_folder("online-gone-r0-a1") / "evidence.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"steps": []}))
    (run.evidence_folder("online-agrees-r0-a1") / "evidence.json").write_text("{")
    found = trajectories(run)
    assert [step["source"] for step in found["online-gone-r0-a1"]["steps"]] == ["user"]
    assert found["online-agrees-r0-a1"]["extra"]["outcome"] == "unscored: unreadable"


@SLOW
def test_pictures_lie_beside_it(run: RunFolder) -> None:
    one = trajectories(run, images=True)["offline-agrees-r0-a1"]
    [result] = one["steps"][1]["observation"]["results"]
    assert [part["type"] for part in result["content"]] == ["text", "image"]
    folder = run.path / "export-atif" / f"001-{run.lock().run}" / "offline-agrees-r0-a1"
    assert (folder / "images" / "step-001.png").read_bytes() == picture()
    assert "image" not in json.dumps(trajectories(run)["offline-agrees-r0-a1"])


@SLOW
def test_what_models_cost_stands_at_the_step_that_they_decided(run: RunFolder) -> None:
    lines, writer = StepLines(), ExchangeWriter()
    for step, usd in ((1, 0.5), (1, 0.25), (2, None)):
        exchange = ModelExchange(
            request={"messages": []},
            reply="ok",
            usage=TokenUsage(input_tokens=10, output_tokens=2),
            usd=usd,
        )
        lines.add(writer.line(step, exchange))
    folder = run.evidence_folder("offline-agrees-r0-a1")
    (folder / EXCHANGES_FILE).write_bytes(lines.packed())
    steps = trajectories(run)["offline-agrees-r0-a1"]["steps"]
    assert steps[1]["metrics"] == {
        "prompt_tokens": 20,
        "completion_tokens": 4,
        "cost_usd": 0.75,
    }
    assert steps[2]["metrics"] == {"prompt_tokens": 10, "completion_tokens": 2}
    assert "metrics" not in steps[3]


def test_exchanges_that_are_damaged_are_told_and_hide_nothing_else(run: RunFolder) -> None:
    (run.evidence_folder("offline-agrees-r0-a1") / EXCHANGES_FILE).write_bytes(b"no gzip")
    written = Arena().runs.export(run.path, "atif")
    assert written.episodes == 11
    assert any(
        "without metrics of steps" in note and "offline-agrees-r0-a1" in note
        for note in written.notes
    )


@ONE_QUICK
@pytest.mark.parametrize("name", ["../../../elsewhere", "..", "a/b"])
def test_a_runs_id_names_no_folder_elsewhere(run: RunFolder, tmp_path: Path, name: str) -> None:
    lock = run.path / "lock.json"
    lock.write_text(json.dumps(json.loads(lock.read_text()) | {"run": name}))
    out = tmp_path / "a" / "b" / "out"
    Arena().runs.export(run.path, "atif", out)
    assert len(list(out.rglob("trajectory.json"))) == 11
    assert [one.name for one in out.parent.iterdir()] == ["out"]


@SLOW
async def test_what_a_branch_shares_with_its_root_is_marked_and_the_root_is_named(
    tmp_path: Path,
) -> None:
    """Readers of the format train on no step that is marked so: it is another trajectory's."""
    task = browsing_task(checks=[NODE, ANSWER])
    source = await sampled_run(
        tmp_path / "source", [Sampled(task, [TO_KETTLE, TO_TEAPOT, WRONG])], run="source"
    )
    run = await rolled_out(tmp_path / "run", source, "2", [RIGHT], count=1)
    (branch,) = trajectories(run.folder).values()
    assert branch["extra"]["branch"] == {
        "root": f"source/{source.episodes[0].folder}",
        "step": 2,
        "checkpoint": "step 2",
    }
    assert [step.get("is_copied_context") for step in branch["steps"]] == [None, True, True, None]
    (root,) = trajectories(source.folder).values()
    assert root["extra"]["branch"] is None
    assert not any("is_copied_context" in step for step in root["steps"])
