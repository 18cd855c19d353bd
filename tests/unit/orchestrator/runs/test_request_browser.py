"""One run has one browser: the full one where a world of it visits real sites."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from arena_core.worlds import World
from orchestrator.runs.request import RunRequest, browser_for
from orchestrator.runs.spec import RunSettings


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
        suite=nothing,
        tasks=(),
        agent=nothing,
        agent_lock=nothing,
        settings=RunSettings(worlds=worlds, staged=staged),
    )
    assert (request.browser.full, request.browser.headless) == (full, True)
    assert not browser_for(request.settings, headless=False).headless
