"""`arena canary --every`: looks follow each other, whatever fails in one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from arena_core.errors import (
    ArenaError,
    EngineError,
    InterruptedRunError,
    TaskError,
    UsageError,
)
from orchestrator.cli.console import Console
from orchestrator.cli.tasks.canary_watch import keep_looking, read_interval

HOUR = 3600.0


@dataclass
class Watch:
    """Looks that take so many seconds each, or fail; a clock that stands still otherwise."""

    looks: Sequence[float | ArenaError]
    pause_s: float = 0.0
    now: float = 0.0
    begun: list[float] = field(default_factory=list)

    async def look(self) -> float:
        one = self.looks[len(self.begun)]
        self.begun.append(self.now)
        if isinstance(one, ArenaError):
            raise one
        self.now += one
        return self.pause_s

    async def wait(self, seconds: float) -> bool:
        assert seconds >= 0
        self.now += seconds
        return len(self.begun) == len(self.looks)

    async def keep(self) -> list[float]:
        await keep_looking(self.look, HOUR, Console(), self.wait, lambda: self.now)
        return self.begun


async def test_looks_begin_at_equal_distances_however_long_each_takes() -> None:
    assert await Watch([60, 1800, 5]).keep() == [0, HOUR, 2 * HOUR]


async def test_a_look_that_takes_too_long_is_followed_at_once_and_none_is_made_up_for() -> None:
    assert await Watch([2.5 * HOUR, 60, 60]).keep() == [0, 2.5 * HOUR, 3.5 * HOUR]


async def test_no_look_comes_before_a_site_wants_to_be_asked_again() -> None:
    assert await Watch([60, 60], pause_s=2 * HOUR).keep() == [0, 60 + 2 * HOUR]
    assert await Watch([60, 60], pause_s=60).keep() == [0, HOUR]


async def test_what_fails_in_one_look_is_told_and_the_next_follows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    watch = Watch([60, EngineError("no engine answers"), TaskError("was edited"), 60])
    assert len(await watch.keep()) == 4
    said = capsys.readouterr().err
    assert "no engine answers" in said
    assert "was edited" in said


@pytest.mark.parametrize("error", [UsageError("x"), TaskError("x"), InterruptedRunError("x")])
async def test_what_no_look_can_get_over_ends_it_at_once(error: ArenaError) -> None:
    with pytest.raises(type(error)):
        await Watch([error, 60]).keep()


@pytest.mark.parametrize(("text", "seconds"), [("30m", 1800), ("6h", 6 * HOUR), ("1d", 24 * HOUR)])
def test_an_interval_is_minutes_hours_or_days(text: str, seconds: float) -> None:
    assert read_interval(text) == seconds


@pytest.mark.parametrize("text", ["", "6", "h", "0h", "-1h", "1.5h", "6 h", "1s", "10000d"])
def test_any_other_interval_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no interval"):
        read_interval(text)
