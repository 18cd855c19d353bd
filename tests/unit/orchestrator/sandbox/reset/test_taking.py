"""What is refused before anything is asked of a site; the rest: tests/docker/states."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.sites.watched_replica import NO_ENGINE, watched

from arena_core.errors import StateError
from orchestrator.sandbox.reset.state import Fingerprint, TakenState
from orchestrator.sandbox.reset.taking import require_same_image, take_state
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


async def test_a_state_of_another_image_is_refused_with_both_ids() -> None:
    async with watched([], clock=Clock(), shown=None) as watch:
        own = TakenState(
            site="shelf",
            image_id=watch.replica.placement.image_id,
            packed=b"",
            fingerprint=Fingerprint(),
        )
        require_same_image(watch.replica, own)
        require_same_image(watch.replica, None)
        other = replace(own, image_id=f"sha256:{'7' * 64}")
        with pytest.raises(StateError, match=r"taken of image sha256:7777777.* the site runs i"):
            require_same_image(watch.replica, other)
