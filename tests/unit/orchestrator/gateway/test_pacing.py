from __future__ import annotations

import asyncio
import time

from orchestrator.gateway.conversation import RequestPacer


async def seconds_of(pace: RequestPacer, turns: int) -> float:
    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(turns):
            group.create_task(pace.turn())
    return time.perf_counter() - begun


async def test_a_first_turn_and_an_unpaced_one_never_wait() -> None:
    assert await seconds_of(RequestPacer(5.0), 1) < 2
    assert await seconds_of(RequestPacer(0.0), 100) < 2


async def test_turns_asked_for_together_come_apart_by_the_pace() -> None:
    assert 0.1 <= await seconds_of(RequestPacer(0.05), 3) < 2


async def test_a_burst_passes_at_once_and_the_next_waits() -> None:
    assert await seconds_of(RequestPacer(5.0, burst=6), 6) < 2
    assert 0.1 <= await seconds_of(RequestPacer(0.1, burst=6), 7) < 2


async def test_time_that_has_passed_already_is_not_waited_for_again() -> None:
    pace = RequestPacer(0.3)
    await pace.turn()
    await asyncio.sleep(0.3)

    assert await seconds_of(pace, 1) < 0.2
