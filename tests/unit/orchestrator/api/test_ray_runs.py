"""Runs on a Ray cluster, as far as neither Ray nor a node is needed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW
from support.runs.ray_cluster import Nodes
from support.runs.sharded_runs import lock_of, play_shards, trials

from arena_core.errors import (
    ArenaError,
    ImageError,
    ModelError,
    PrerequisiteError,
    StoreError,
    UsageError,
)
from orchestrator import Arena, RunSpec
from orchestrator.api import ray_driver
from orchestrator.api.ray_driver import shares
from orchestrator.runs.ray_node import refuse_failed
from orchestrator.runs.spec import SpendingLimits

KEY = "key-of-a-model"


def test_all_shards_together_spend_no_more_than_the_budget() -> None:
    each = shares(SpendingLimits(max_usd=5.0, max_tokens=1003), 8)
    assert (each.max_usd, each.max_tokens) == (0.625, 125)
    assert shares(SpendingLimits(), 8) == SpendingLimits()
    with pytest.raises(UsageError, match="leaves none"):
        shares(SpendingLimits(max_tokens=7), 8)


def test_the_error_of_a_node_keeps_its_kind_and_names_the_node() -> None:
    answer = {"node": "n2 (ab)", "code": 70, "message": "refused", "hint": "fix the key"}
    with pytest.raises(ModelError, match=r"shard 2/4 failed on node n2 \(ab\): refused") as found:
        refuse_failed(answer, "shard 2/4 failed")
    assert found.value.hint == "fix the key"
    with pytest.raises(ArenaError):
        refuse_failed({**answer, "code": 137}, "shard 2/4 failed")
    refuse_failed({"node": "n1", "packed": b""}, "shard 1/4 failed")


async def test_without_ray_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    async with Arena() as arena:
        with pytest.raises(PrerequisiteError) as found:
            await arena.ray.run(RunSpec.of(), out=tmp_path / "run")
    assert "arena-orchestrator[ray]" in found.value.hint
    assert not (tmp_path / "run.shards").exists()


@pytest.mark.parametrize("asked", [{"shard": "1/2"}, {"browser": "cdp:ws://h.example?key=abc"}])
async def test_what_cannot_be_cut_or_holds_a_secret_is_refused(
    tmp_path: Path, asked: dict[str, Any]
) -> None:
    world = {"worlds": ("online",)} if "browser" in asked else {}
    async with Arena() as arena:
        with pytest.raises(UsageError):
            await arena.ray.run(RunSpec.of(**asked, **world), out=tmp_path / "run")
        with pytest.raises(UsageError, match="no such variable"):
            await arena.ray.run(RunSpec.of(), environment=["NOT_SET_AT_ALL"])
        with pytest.raises(StoreError, match="no plan"):
            await arena.ray.resume(tmp_path / "none")


@SLOW
async def test_a_failed_shard_fails_the_run_and_only_the_rest_is_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = dict(enumerate(play_shards(tmp_path / "played", 3), 1))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("SITE_PASSWORD", "pass-word")
    failing = Nodes(played, {2: ImageError("another image")})
    out = tmp_path / "out" / "run"
    async with Arena() as arena:
        monkeypatch.setattr(ray_driver, "RayCluster", failing)
        with pytest.raises(ImageError, match="shard 2/3 failed on node n2: another image"):
            await arena.ray.run(RunSpec.of(), shards=3, out=out, environment=["SITE_PASSWORD"])
        plan = (out.with_name("run.shards") / "plan.json").read_text()
        assert json.loads(plan)["images"] == {"arena/wiki:1": "sha256:1"}
        assert "pass-word" not in plan
        assert KEY not in plan
        assert failing.orders[-1]["environment"]["SITE_PASSWORD"] == "pass-word"
        assert failing.orders[-1]["environment"]["OPENAI_API_KEY"] == KEY
        assert failing.orders[-1]["images"] == {"arena/wiki:1": "sha256:1"}
        assert failing.orders[-1]["goldens"] == {"arena/wiki:1": "g"}
        working = Nodes(played, {})
        monkeypatch.setattr(ray_driver, "RayCluster", working)
        report = await arena.ray.resume(out)
    assert [order["spec"]["shard"] for order in working.orders] == ["2/3", "3/3"]
    assert sorted(one.key for one in report.episodes) == sorted(trials(lock_of(None)))
    assert not out.with_name("run.shards").exists()


@SLOW
async def test_rollouts_are_asked_for_as_arena_sample_asks_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = Nodes(dict(enumerate(play_shards(tmp_path / "played", 2), 1)), {})
    monkeypatch.setattr(ray_driver, "RayCluster", nodes)
    async with Arena() as arena:
        report = await arena.ray.sample(
            "oracle",
            ["wiki-bells-of-bruges"],
            rollouts=4,
            shards=2,
            out=tmp_path / "run",
            options={"error_rate": 0.5},
        )
    assert report.pending == 0
    spec = nodes.orders[-1]["spec"]
    assert (spec["repeats"], spec["screenshots"], spec["agent"]) == (4, False, "oracle")
    assert (list(spec["tasks"]), spec["shard"]) == (["wiki-bells-of-bruges"], "2/2")
    assert spec["options"] == {"error_rate": 0.5}
