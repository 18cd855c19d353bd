"""Pages in the middle of real tasks come back equal: 40 situations over nine sites."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random

import pytest

from arena_core.actions import Click
from arena_core.errors import StateError
from arena_core.worlds import World
from orchestrator import Arena
from orchestrator.agents.builtin.oracle import OracleAgent
from tasks.loader import load_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]

Situation = tuple[str, int]

COUNTS = {
    "cms": 7,
    "forge": 6,
    "forum": 6,
    "home": 2,
    "map": 3,
    "miniwob": 2,
    "shop": 7,
    "tools": 4,
    "wiki": 3,
}


@pytest.fixture
async def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Arena]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with Arena(workers=2) as opened:
        yield opened


def situations(site: str) -> list[Situation]:
    """Draw tasks of a site, and of each the step of its reference after which it is looked at.

    Nobody chose them: what a reference leads through is what agents meet.
    """
    draw = Random(site)
    drawn = draw.sample(list(steps_on(site)), COUNTS[site])
    return [(task, draw.randint(*within)) for task, within in drawn]


# Pages of MiniWoB++ with boxes to tick, one of which is ticked here: nothing is over by that.
LONG = re.compile("click-checkboxes-s.*")


def steps_on(site: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the tasks of a site, each with the first and last step that has a page to look at."""
    for suite in ("miniwob",) if site == "miniwob" else ("demo", "arena-120"):
        for task in load_suite(suite).tasks:
            actions = [one for one in task.reference or () if one.only in (None, World.OFFLINE)]
            if site == "home" and task.sites[0] == "home":
                yield f"{suite}/{task.id}", (0, 0)
            elif site == "miniwob" and LONG.fullmatch(task.id):
                yield f"{suite}/{task.id}", (1, 1)
            elif set(task.sites) - {"home"} == {site} != {"miniwob"}:
                yield f"{suite}/{task.id}", (1, len(actions) - 1)


@pytest.mark.slow(minutes=2)
@pytest.mark.parametrize("site", COUNTS)
async def test_the_page_of_a_branch_is_that_of_its_checkpoint(arena: Arena, site: str) -> None:
    refused = {
        situation: why
        for situation in situations(site)
        if (why := await why_refused(arena, *situation)) is not None
    }
    assert not refused


async def why_refused(arena: Arena, task: str, steps: int) -> str | None:
    async with arena.episode(task) as episode:
        await episode.reset()
        assert episode._begun is not None
        oracle = OracleAgent(episode._begun.episode.reference, World.OFFLINE)
        for _ in range(steps):
            ticked = [one for one in episode.observation.nodes if one.role == "checkbox"]
            if task.startswith("miniwob/"):
                await episode.step(Click(element=ticked[0].id))
            else:
                await episode.step((await oracle.decide(episode.observation)).action)
        assert not episode.is_over
        try:
            mark = await episode.checkpoint("here")
        except StateError as refusal:
            return str(refusal)
        (branch,) = await episode.fork(1, at=mark)
        async with branch:
            if branch.is_over:
                return str(branch.evidence().fault)
            assert branch.observation.text == mark.seen.text
            return None
