"""Forks that containers are pulled away from, or that are given up: what goes on, what is left."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from quick_cases import SLOW
from sabotage.engine_cli import docker

from arena_core.actions import Stop
from arena_core.errors import ArenaError
from arena_core.worlds import World
from orchestrator import Arena, Checkpoint, OpenEpisode
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.sandbox.engine.containers import Labels

pytestmark = [pytest.mark.docker, pytest.mark.browser]

TASK = "arena-120/tools-pin-the-train"


def mine(*, running: bool = False) -> set[str]:
    """Return the ids of the containers that this process's episodes have."""
    shown = f'{{{{.ID}}}} {{{{.Label "{Labels.OWNER}"}}}}'
    which = () if running else ("--all",)
    rows = docker("ps", "--no-trunc", *which, "--format", shown).splitlines()
    return {row.split()[0] for row in rows if f" episodes-{os.getpid()}-" in row}


@pytest.fixture
async def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Arena]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with Arena(workers=3) as opened:
        yield opened
    assert mine() == set()


@pytest.fixture
async def episode(arena: Arena) -> AsyncIterator[OpenEpisode]:
    async with arena.episode(TASK) as opened:
        await opened.reset()
        yield opened


async def half_played(episode: OpenEpisode) -> tuple[OracleAgent, Checkpoint]:
    assert episode._begun is not None
    oracle = OracleAgent(episode._begun.episode.reference, World.OFFLINE)
    for _ in range(2):
        await episode.step((await oracle.decide(episode.observation)).action)
    return oracle, await episode.checkpoint("half")


async def to_the_end(episode: OpenEpisode, oracle: OracleAgent) -> str:
    while not episode.is_over:
        await episode.step((await oracle.decide(episode.observation)).action)
    return str((await episode.score()).outcome)


@SLOW
@pytest.mark.parametrize("after_s", [0.0, 0.4, 1.2])
async def test_branches_whose_containers_are_killed_as_they_begin_are_equal_or_are_none(
    episode: OpenEpisode, after_s: float
) -> None:
    oracle, mark = await half_played(episode)
    assert episode._begun is not None
    own = {one.container.id for one in episode._begun.held.value.replicas.values()}
    forking = asyncio.create_task(episode.fork(2, at=mark))
    await asyncio.wait([forking], timeout=after_s)
    others = mine(running=True) - own
    assert others
    docker("kill", *others)
    try:
        branches = await forking
    except ArenaError:
        branches = ()
    for branch in branches:
        async with branch:
            assert branch.is_over or branch.observation.text == mark.seen.text
            if branch.is_over:
                assert str((await branch.score()).outcome).startswith("unscored")
    assert await to_the_end(episode, oracle) == "success"


@SLOW
async def test_a_branch_begins_where_the_episodes_own_container_is_gone(
    episode: OpenEpisode,
) -> None:
    oracle, mark = await half_played(episode)
    docker("kill", *mine(running=True))
    (branch,) = await episode.fork(1, at=mark)
    async with branch:
        assert await to_the_end(branch, oracle) == "success"
    if not episode.is_over:
        await episode.step(Stop())
    assert str((await episode.score()).outcome) == "unscored: infra"


@SLOW
@pytest.mark.parametrize("after_s", [0.0, 0.4, 1.2])
async def test_a_fork_that_is_given_up_gives_its_slots_back(
    episode: OpenEpisode, after_s: float
) -> None:
    oracle, mark = await half_played(episode)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(after_s):
            await episode.fork(2, at=mark)
    for branch in await episode.fork(2, at=mark):
        async with branch:
            assert not branch.is_over, branch.evidence().fault
    assert await to_the_end(episode, oracle) == "success"
