"""What is refused before anything is asked of a site; the rest: tests/docker/states."""

from __future__ import annotations

import pytest
from support.sites.watched_replica import NO_ENGINE, watched

from arena_core.errors import StateError
from orchestrator.sandbox.reset.taking import take_state
from sites.manifest import Clock


async def test_no_state_is_taken_of_a_site_that_may_be_broken_after_a_crash() -> None:
    asked: list[str] = []
    async with watched(asked, clock=Clock(), shown=None) as watch:
        with pytest.raises(
            StateError, match="does not say that what it writes is whole"
        ) as refusal:
            await take_state(NO_ENGINE, watch)
    assert "crash_safe: true" in str(refusal.value.hint)
    assert asked == []
