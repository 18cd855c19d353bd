"""One run has one browser: the full one where a world of it visits real sites."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from arena_core.worlds import World
from orchestrator.api.episode_worlds import WorldChoice
from orchestrator.runner.request import RunRequest


@pytest.mark.parametrize(
    ("worlds", "staged", "full"),
    [
        ((World.OFFLINE,), False, False),
        ((World.ONLINE,), False, True),
        ((World.OFFLINE, World.ONLINE), False, True),
        ((World.OFFLINE, World.ONLINE), True, False),
    ],
)
def test_real_sites_are_visited_with_the_full_browser_and_replicas_beside_them_too(
    worlds: tuple[World, ...], *, staged: bool, full: bool
) -> None:
    nothing: Any = SimpleNamespace(tasks=())
    request = RunRequest(
        suite=nothing, tasks=(), worlds=worlds, agent=nothing, agent_lock=nothing, staged=staged
    )
    assert (request.browser.full, request.browser.headless) == (full, True)


def test_a_single_episode_has_the_browser_that_a_run_would_have() -> None:
    assert not WorldChoice(world=World.OFFLINE).browser.full
    assert WorldChoice(world=World.ONLINE).browser.full
    assert not WorldChoice(world=World.ONLINE, staged=True).browser.full
    assert not WorldChoice(world=World.OFFLINE, headless=False).browser.headless
