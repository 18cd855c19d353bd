"""An episode computes the observations that its agent asked for, and no others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.worlds.fake_world import FakeWorld, attempt_at, browsing_task

from arena_core.actions import Back, Stop
from arena_core.errors import UsageError
from orchestrator.browser.observation import AXTREE, AxTree, Observation
from orchestrator.episode.episode import Episode


async def played(observations: frozenset[str]) -> FakeWorld:
    world = FakeWorld()
    spec = replace(attempt_at(browsing_task()), observations=observations)
    async with Episode(spec, world.environment()) as episode:
        await episode.reset()
        await episode.step(Back())
        await episode.step(Stop())
    return world


@pytest.mark.parametrize("asked", [frozenset(), frozenset({AXTREE})])
async def test_only_what_the_agent_asked_for_is_looked_at(asked: frozenset[str]) -> None:
    assert (await played(asked)).forms == [asked, asked]


async def test_an_episode_that_nobody_says_more_of_shows_the_accessibility_tree() -> None:
    assert attempt_at(browsing_task()).observations == {AXTREE}


def test_what_was_not_asked_for_is_an_error_and_not_an_empty_page() -> None:
    seen = Observation(step=0, url="", title="", tabs=())
    for read in (lambda: seen.nodes, lambda: seen.text):
        with pytest.raises(UsageError, match="did not ask for that form"):
            read()
    shown = replace(seen, parts={AXTREE: AxTree((), "a page")})
    assert (shown.nodes, shown.text) == ((), "a page")
