"""A live host's quota is the run's: it goes on where a run that is resumed had left off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runs.make_evidence import make_evidence, make_step
from support.runs.tiny_run import SUITE, make_lock
from support.worlds.live_origin import HOST, registry_with

from arena_core.worlds import World
from evaluators.evidence import HostUse
from orchestrator.gateway.live_limits import LiveMeters, LiveUse
from orchestrator.runs.run import asked_before
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.run_folder import RunFolder
from sites.upstreams import Upstreams

URL = f"https://{HOST}/page"


def upstreams(world: World = World.ONLINE, **live: Any) -> Upstreams:
    return registry_with(**live).upstreams(["wiki"], world)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", make_lock(), SUITE)


def played(folder: RunFolder, number: int, requests: int, world: World = World.ONLINE) -> None:
    uses = (HostUse(host=HOST, requests=requests), HostUse(host="cdn.example", requests=70))
    began = {"hosts": uses, "started_at": f"2026-01-01T00:00:0{number}Z"}
    evidence = make_evidence(make_step(0), world=world).model_copy(update=began)
    folder.save_evidence(EpisodeKey("one", world).folder(number), evidence, {})


async def test_a_resumed_run_has_no_more_than_was_left_of_its_quota(folder: RunFolder) -> None:
    visited = upstreams(quota=6)
    played(folder, 1, 2)
    played(folder, 2, 3)
    played(folder, 3, 100, World.OFFLINE)
    asked = asked_before(visited, [folder])
    assert asked == {HOST: 5}
    use = LiveUse(LiveMeters.of(visited, asked).by_site.values())
    assert await use.admit("GET", URL) is None
    assert await use.admit("GET", URL) == "the run's quota of 6 requests to wiki.example is used up"


def test_runs_that_are_played_together_share_what_was_asked(
    folder: RunFolder, tmp_path: Path
) -> None:
    other = RunFolder.create(tmp_path / "other", make_lock(), SUITE)
    played(folder, 1, 2)
    played(other, 1, 3)
    assert asked_before(upstreams(quota=6), [folder, other]) == {HOST: 5}


@pytest.mark.parametrize("visited", [upstreams(), upstreams(World.OFFLINE, quota=6)])
def test_without_a_quota_no_evidence_is_read(
    folder: RunFolder, visited: Upstreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(folder, 1, 2)
    monkeypatch.delattr(RunFolder, "host_uses")
    assert asked_before(visited, [folder]) == {}
