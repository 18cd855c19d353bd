"""Every reset ends with the site's clock at the moment of its manifest."""

from __future__ import annotations

import pytest
from support.sites.watched_replica import BEGINS, NO_ENGINE, watched

from arena_core.errors import ImageError, ResetError, SiteError
from orchestrator.sandbox.reset.ladder import put_clock_back, reset_replica, strategies_for
from sites.manifest import Clock


def clock(now: str = BEGINS) -> Clock:
    return Clock.model_validate({"now": now})


async def test_a_reset_that_changes_nothing_puts_the_clock_back_when_it_has_its_proof() -> None:
    asked: list[str] = []
    async with watched(asked, clock=clock(), shown={"clock": BEGINS}) as watch:
        await watch.prove()
        reset = await reset_replica(
            NO_ENGINE, watch, strategies=strategies_for("clean"), wrote=False
        )
        assert reset.receipt.strategy == "clean"
    assert asked[-1] == "clock"
    assert asked.count("clock") == 1


async def test_a_site_on_the_machines_clock_is_not_asked() -> None:
    asked: list[str] = []
    async with watched(asked, clock=Clock(), shown={"error": "its clock is the host's"}) as watch:
        await watch.prove()
        await reset_replica(NO_ENGINE, watch, strategies=strategies_for("clean"), wrote=False)
    assert "clock" not in asked


async def test_a_clock_that_cannot_be_put_back_is_no_reset() -> None:
    async with watched([], clock=clock(), shown={"error": "it was replaced"}) as watch:
        await watch.prove()
        with pytest.raises(ResetError, match="it was replaced"):
            await reset_replica(NO_ENGINE, watch, strategies=strategies_for("clean"), wrote=False)


async def test_an_image_whose_clock_begins_elsewhere_does_not_fit_its_manifest() -> None:
    async with watched([], clock=clock("2027-01-01T00:00:00Z"), shown={"clock": BEGINS}) as watch:
        with pytest.raises(ImageError, match=r"begins at 2026-10-01.*manifest's at 2027-01-01"):
            await put_clock_back(watch)


async def test_an_image_without_a_clock_of_its_own_is_distinguished() -> None:
    async with watched([], clock=clock(), shown={}) as watch:
        with pytest.raises(SiteError, match="does not say what its clock shows"):
            await put_clock_back(watch)
