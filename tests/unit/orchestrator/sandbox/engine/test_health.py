"""How long a container is waited for: its limit, and longer where a machine under load is slow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from support.sites.standing_web import Web

from arena_core.errors import UnhealthyError
from orchestrator.sandbox.engine.containers import Endpoint
from orchestrator.sandbox.engine.health import HealthProbe, wait_healthy

NOBODY = Endpoint("127.0.0.1", 9)


class Engine:
    """An engine with one container, whose log and processor time go by the clock.

    Args:
        log: its log, by the seconds since the start.
        processor: the processor time that it has used, likewise.
    """

    def __init__(
        self,
        log: Callable[[float], str] = lambda _: "starting",
        processor: Callable[[float], float] = lambda _: 1.0,
    ) -> None:
        self._began = time.monotonic()
        self._log = log
        self._processor = processor

    async def logs(self, _: str, tail: int) -> str:
        return self._log(time.monotonic() - self._began)

    async def processor_seconds(self, _: str) -> float:
        return self._processor(time.monotonic() - self._began)

    async def wait_exit(self, _: str) -> int:
        await asyncio.Event().wait()
        return 0

    async def container(self, _: str) -> None:
        return None


async def waited(engine: Engine, most_s: float | None, endpoint: Endpoint = NOBODY) -> float:
    """Return how long a container was waited for that never serves."""
    container: Any = type("Container", (), {"id": "c", "name": "shop"})()
    probe = HealthProbe(
        endpoint=endpoint,
        host="shop.arena.test",
        path="/",
        contains="ready",
        timeout_s=0.2,
        most_s=most_s,
    )
    anything: Any = engine
    began = time.monotonic()
    with pytest.raises(UnhealthyError, match="did not become healthy within"):
        await wait_healthy(anything, container, probe)
    return time.monotonic() - began


@pytest.mark.parametrize("most_s", [None, 30.0])
async def test_a_container_that_only_waits_has_its_limit(most_s: float | None) -> None:
    assert 0.2 <= await waited(Engine(), most_s) < 2.0


@pytest.mark.parametrize(
    "engine",
    [
        lambda: Engine(log=lambda at: f"table {at:.2f}" if at < 0.5 else "the last table"),
        lambda: Engine(processor=lambda at: min(at, 0.5)),
    ],
    ids=["logs", "computes"],
)
async def test_the_limit_counts_anew_while_a_container_makes_progress(
    engine: Callable[[], Engine],
) -> None:
    assert 0.6 <= await waited(engine(), 30.0) < 3.0


async def test_not_even_progress_is_waited_for_without_end() -> None:
    assert 0.7 <= await waited(Engine(log=str), 0.7) < 2.0


async def test_answering_with_another_page_is_no_progress() -> None:
    web = Web()  # every path of it is 404
    try:
        busy = Engine(processor=lambda at: at)
        assert 0.2 <= await waited(busy, 30.0, web.replica().endpoint) < 2.0
    finally:
        web.close()
