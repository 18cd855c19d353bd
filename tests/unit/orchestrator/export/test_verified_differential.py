"""A pack for webarena-verified, scored by its own command and by Arena's scorer `verified`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.runs.published_run import evidence, published, run, task
from support.tasks.verified_peer import peer_python

from evaluators.scorers.base import ScorerStatus
from orchestrator import Arena
from tasks.schema import Task

REPOSITORY = Path(__file__).parents[4]
PROGRAM = Path(__file__).with_name("verified_draw.py")
TASKS = 100


@pytest.fixture(scope="session")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return peer_python(tmp_path_factory.mktemp("webarena-verified"))


def called(program: Path, *arguments: object, **environment: str) -> str:
    ended = subprocess.run(
        [program, *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
        timeout=500,
        env={**os.environ, **environment},
    )
    return ended.stdout


def imported(record: dict[str, Any], bases: dict[str, str]) -> Task:
    number = record["task_id"]
    original = published("webarena-verified", record, str(number), bases)
    return task(f"verified-{number}", original)


@pytest.mark.slow(minutes=4)
@pytest.mark.parametrize("seed", [1, 2])
def test_its_own_command_gives_every_packed_episode_the_score_of_the_scorer(
    peer: Path, tmp_path: Path, seed: int
) -> None:
    drawn = json.loads(called(peer, PROGRAM, seed, TASKS, PYTHONPATH=str(REPOSITORY)))
    tasks = [imported(one["record"], drawn["bases"]) for one in drawn["episodes"]]
    episodes = [
        evidence(of.id, one["answer"], network=one["requests"])
        for of, one in zip(tasks, drawn["episodes"], strict=True)
    ]
    folder = run(tmp_path / "run", tasks, episodes)
    arena = Arena()
    [scorer] = arena.runs.score_with(arena.runs.read(folder.path).episodes, ["verified"])
    pack = arena.runs.export(folder.path, "webarena-verified", tmp_path / "pack")
    command = peer.with_name("webarena-verified")
    options = ("--config", pack.path / "config.json", "--output-dir", pack.path)
    called(command, "eval-tasks", *options)
    found = {}
    for one in sorted(pack.path.glob("*/eval_result.json")):
        result = json.loads(one.read_text())
        crashed = result["status"] == "error"
        found[one.parent.name] = "crash" if crashed else str(float(result["score"]))
    ours = {
        one.scored.task.id.removeprefix("verified-"): (
            str(one.score.value) if one.score.value is not None else one.score.status.value
        )
        for one in scorer.episodes
    }
    left = {one.what.removeprefix("offline-verified-").partition("-r")[0] for one in pack.left_out}
    assert {name: ours[name] for name in found} == found
    assert set(found) | left == set(ours)
    # What is left out is what nobody can score, and an episode without a request.
    silent = {of.id for of, one in zip(tasks, episodes, strict=True) if not one.network}
    assert all(
        ours[name] == ScorerStatus.UNSCORED.value or f"verified-{name}" in silent for name in left
    )
    counts = {worth: list(found.values()).count(worth) for worth in ("0.0", "1.0")}
    assert min(counts.values()) > TASKS // 10
