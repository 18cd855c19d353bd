"""Looks again and again, until Ctrl-C: `arena canary SUITE --every 6h`."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from arena_core.errors import ArenaError, InputError, InterruptedRunError, UsageError
from orchestrator.cli.asynchronous import interrupts
from orchestrator.cli.console import Console

_UNITS: Final = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_WRITTEN: Final = re.compile(r"([1-9]\d{0,3})([mhd])")


def read_interval(text: str) -> float:
    """Return the seconds of `30m`, `6h` or `1d`.

    Raises:
        UsageError: it is written otherwise.
    """
    found = _WRITTEN.fullmatch(text)
    if found is None:
        message = f"--every {text}: is no interval"
        raise UsageError(message, hint="write minutes, hours or days: 30m, 6h, 1d")
    return int(found[1]) * _UNITS[found[2]].total_seconds()


async def keep_looking(
    look: Callable[[], Awaitable[float]],
    every_s: float,
    console: Console,
    wait: Callable[[float], Awaitable[bool]],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Look at once, and then every so many seconds from the beginning of the look before.

    What fails in a look is reported, and the next follows all the same. A look that took longer
    than the interval is followed by the next at once, and by none that was missed.

    Args:
        look: looks once, tells what it found, and returns for how many seconds from then on no site
            wants to be asked again.
        every_s: from beginning to beginning.
        console: prints what fails.
        wait: waits so many seconds; True where the person wants no further look.
        clock: tells seconds.

    Raises:
        InterruptedRunError: a look was interrupted.
        UsageError, InputError: of the first look; no other would succeed either.
    """
    has_looked = False
    while True:
        began = clock()
        pause_s = 0.0
        try:
            pause_s = await look()
        except InterruptedRunError:
            raise
        except ArenaError as wrong:
            if isinstance(wrong, UsageError | InputError) and not has_looked:
                raise
            console.warn(f"arena: {wrong.message}")
        has_looked = True
        left = max(0.0, began + every_s - clock(), pause_s)
        console.note(f"the next look in {left / 60:.0f} min; Ctrl-C ends it")
        if await wait(left):
            return


async def until_interrupted(seconds: float) -> bool:
    """Wait so many seconds; True where Ctrl-C came first."""
    async with interrupts() as pressed:
        try:
            async with asyncio.timeout(seconds):
                await pressed.wait()
        except TimeoutError:
            return False
    return True
