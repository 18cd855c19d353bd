"""What is kept beside the evidence of an episode that is traced, however it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.runs.played_episode import ANSWER, KETTLE, RIGHT
from support.worlds.fake_world import FakeWorld, attempt_at, browsing_task

from arena_core.actions import Goto
from arena_core.errors import BrowserError, LoginError, SiteGoneError
from arena_core.worlds import World
from evaluators.network import Recording
from orchestrator.episode.episode import Episode
from orchestrator.episode.resources import recorded_for

FRESH = {
    "name": "list",
    "when": "end",
    "locate": {"by": "page", "at": "wiki:/list", "selector": "li"},
    "match": {"how": "exact", "value": "Kettle"},
}


def traced(world: FakeWorld, *checks: dict[str, Any]) -> Episode:
    task = browsing_task(checks=list(checks))
    spec = replace(attempt_at(task), traces=True)
    return Episode(spec, world.environment(World.OFFLINE, task.sites))


async def test_a_trace_ends_before_checks_open_pages_of_their_own() -> None:
    world = FakeWorld(pages={"li": ("Kettle",)})
    async with traced(world, FRESH, ANSWER) as one:
        await one.reset()
        await one.step(RIGHT)
        await one.score()
    assert one.files["trace.zip"] == b"zip"
    reads = [entry for entry in world.log if entry.startswith("read ")]
    assert reads
    assert world.log.index("trace ended") < world.log.index(reads[0])


@pytest.mark.parametrize("where", ["open", "settle", "act"])
async def test_an_episode_that_breaks_off_keeps_its_trace(where: str) -> None:
    world = FakeWorld(script={where: BrowserError("it crashed")})
    async with traced(world, ANSWER) as one:
        await one.reset()
        if not one.is_over:
            await one.step(Goto(url=KETTLE))
        assert one.is_over
        await one.score()
    assert one.evidence().fault is not None
    assert one.files["trace.zip"] == b"zip"
    assert world.log.index("trace ended") < world.log.index("session closed")


async def test_an_episode_that_its_driver_leaves_keeps_its_trace() -> None:
    async with traced(FakeWorld(), ANSWER) as one:
        await one.reset()
    assert one.files["trace.zip"] == b"zip"


@pytest.mark.parametrize("error", [LoginError("no"), SiteGoneError("gone")])
async def test_an_episode_that_never_had_a_browser_has_no_trace(error: Exception) -> None:
    world = FakeWorld(script={"listen": error, "log in": error})
    async with traced(world, ANSWER) as one:
        await one.reset()
    assert "trace.zip" not in one.files


def test_requests_are_recorded_for_every_task_where_the_run_asks() -> None:
    task = browsing_task(checks=[ANSWER])
    assert recorded_for(task, World.OFFLINE) == frozenset()
    assert recorded_for(task, World.OFFLINE, every=True) == {Recording.REQUESTS}
