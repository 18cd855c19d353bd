"""Every reset ends with the site's clock at the moment of its manifest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from supervisor_server import Question, supervisor

from arena_core.errors import ImageError, ResetError, SiteError
from orchestrator.engine.containers import Container
from orchestrator.engine.engine import Engine
from orchestrator.reset.clock import put_clock_back
from orchestrator.reset.ladder import reset_replica, rungs_for
from orchestrator.reset.replica import Placement, Replica
from orchestrator.reset.state import Fingerprint
from orchestrator.reset.watch import Watch
from sites.manifest import Clock, Site

BEGINS = "2026-10-01T09:00:00Z"
SITE = {
    "name": "shelf",
    "title": "Shelf",
    "summary": "files only",
    "host": "shelf.arena.test",
    "stateful": True,
    "image": {"tag": "arena-test/shelf:1", "published": "unused"},
    "port": 8000,
    "health": {"path": "/", "contains": "ready"},
    "resources": {"memory_mb": 64, "cpus": 1.0, "pids": 16},
    "state": {"folder": "/f", "port": 9009},
    "fingerprint": {"files": ["/f/media"]},
}
NO_ENGINE = cast("Engine", None)  # nothing here needs one


class Sealed:
    digest = Fingerprint().digest

    async def parts(self) -> Fingerprint:
        return Fingerprint()


@asynccontextmanager
async def watched(asked: list[str], *, clock: Clock, shown: object) -> AsyncIterator[Watch]:
    """Watch a golden replica whose supervisor answers the question for the clock with `shown`."""

    def answer(question: Question) -> object:
        asked.append(str(question["ask"]))
        none: object = {"files": []}
        said = {"stamp": {"stamp": "s1"}, "files": none, "scratch": none, "clock": shown}
        return {"ask": question["ask"], **cast("dict[str, object]", said[asked[-1]])}

    async with supervisor(answer) as server:
        site = Site.model_validate({**SITE, "clock": clock})
        replica = Replica(
            placement=Placement(site=site, image_id="i", golden=Sealed(), owner="test"),
            container=Container(
                id="c",
                name="shelf",
                image_id="i",
                labels={},
                state="running",
                exit_code=None,
                ports={8000: server.endpoint, 9009: server.endpoint},
            ),
            endpoint=server.endpoint,
            database=None,
            supervisor=server.endpoint,
        )
        watch = Watch.over(NO_ENGINE, replica, new=True)
        try:
            yield watch
        finally:
            await watch.close()


def clock(now: str = BEGINS) -> Clock:
    return Clock.model_validate({"now": now})


async def test_a_reset_that_changes_nothing_puts_the_clock_back_when_it_has_its_proof() -> None:
    asked: list[str] = []
    async with watched(asked, clock=clock(), shown={"clock": BEGINS}) as watch:
        await watch.prove()
        reset = await reset_replica(NO_ENGINE, watch, rungs=rungs_for("clean"), wrote=False)
        assert reset.receipt.strategy == "clean"
    assert asked[-1] == "clock"
    assert asked.count("clock") == 1


async def test_a_site_on_the_machines_clock_is_not_asked() -> None:
    asked: list[str] = []
    async with watched(asked, clock=Clock(), shown={"error": "its clock is the host's"}) as watch:
        await watch.prove()
        await reset_replica(NO_ENGINE, watch, rungs=rungs_for("clean"), wrote=False)
    assert "clock" not in asked


async def test_a_clock_that_cannot_be_put_back_is_no_reset() -> None:
    async with watched([], clock=clock(), shown={"error": "it was replaced"}) as watch:
        await watch.prove()
        with pytest.raises(ResetError, match="it was replaced"):
            await reset_replica(NO_ENGINE, watch, rungs=rungs_for("clean"), wrote=False)


async def test_an_image_whose_clock_begins_elsewhere_does_not_fit_its_manifest() -> None:
    async with watched([], clock=clock("2027-01-01T00:00:00Z"), shown={"clock": BEGINS}) as watch:
        with pytest.raises(ImageError, match=r"begins at 2026-10-01.*manifest's at 2027-01-01"):
            await put_clock_back(watch)


async def test_an_image_without_a_clock_of_its_own_is_told_apart() -> None:
    async with watched([], clock=clock(), shown={}) as watch:
        with pytest.raises(SiteError, match="does not say what its clock shows"):
            await put_clock_back(watch)
