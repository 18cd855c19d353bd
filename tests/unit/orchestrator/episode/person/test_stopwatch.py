"""A person's clock: it runs, stands in pauses, and stops for good."""

from __future__ import annotations

import asyncio

from orchestrator.episode.person.stopwatch import Stopwatch


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def started() -> tuple[Stopwatch, Time]:
    time = Time()
    clock = Stopwatch(now=time)
    clock.start()
    return clock, time


def test_nothing_is_counted_before_the_start() -> None:
    assert Stopwatch(now=Time()).seconds == 0.0


def test_a_pause_is_noted_and_not_counted() -> None:
    clock, time = started()
    time.now += 5
    clock.pause()
    clock.pause()  # a second press changes nothing
    time.now += 60
    assert (clock.seconds, clock.is_paused) == (5, True)
    clock.go_on()
    clock.go_on()
    time.now += 2
    clock.stop()
    time.now += 1000
    clock.stop()
    clock.pause()
    assert clock.times.model_dump() == {"seconds": 7, "paused": 60, "pauses": 1}


def test_a_pause_that_is_under_way_at_the_end_is_noted_too() -> None:
    clock, time = started()
    time.now += 5
    clock.pause()
    time.now += 3
    clock.stop()
    assert clock.times.model_dump() == {"seconds": 5, "paused": 3, "pauses": 1}


def test_whoever_shows_it_learns_of_pauses() -> None:
    told: list[bool] = []
    clock, _ = started()
    clock.changed = lambda: told.append(clock.is_paused)
    clock.pause()
    clock.go_on()
    assert told == [True, False]


async def test_a_limit_is_reached_by_what_is_counted() -> None:
    clock, time = started()
    waiting = asyncio.create_task(clock.runs_out(10))
    time.now += 10
    await asyncio.wait_for(clock.runs_out(10), 1)
    waiting.cancel()
