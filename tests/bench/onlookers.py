"""What `arena watch` costs a run while somebody looks, beside runs that nobody looks at."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path
from statistics import median
from threading import Event
from typing import Final

from bench.figures import Figure
from bench.workers import Pace, play

from arena_core.errors import StoreError
from orchestrator.runs.control import film

_ROUNDS: Final = 5
_REPEATS: Final = 1
_WORKERS: Final = "2"
_MOST: Final = 1.03
_AGAIN_S: Final = 0.2


def onlooker_figures(folder: Path) -> list[Figure]:
    """Play the same mixed tasks with and without an onlooker, in turns; the reference is without.

    Processor time is compared too, which other programs on the machine hardly change: what a run
    takes more of it, it loses in throughput where the cores are full.
    """
    watched: list[Pace] = []
    alone: list[Pace] = []
    pictures = 0
    for number in range(_ROUNDS):
        pace, seen = _watched(folder / f"watched-{number}")
        pictures += seen
        watched.append(pace)
        alone.append(play(_WORKERS, folder / f"alone-{number}", _REPEATS))
    looked = f"with an onlooker ({pictures / _ROUNDS:.0f} pictures a run; ref.: without)"
    seconds = [median(one.cpu_s / one.episodes for one in paces) for paces in (watched, alone)]
    minute = [median(one.a_minute for one in paces) for paces in (watched, alone)]
    return [
        Figure(
            f"{what}, {looked}",
            ours,
            reference,
            ours / reference,
            f"costs at most {_MOST - 1:.0%}",
            met=costs <= _MOST,
            rounds=_ROUNDS,
            load=max(one.load for one in (*watched, *alone)),
        )
        for what, (ours, reference), costs in (
            ("processor seconds an episode", seconds, seconds[0] / seconds[1]),
            ("episodes per minute", minute, minute[1] / minute[0]),
        )
    ]


def _watched(folder: Path) -> tuple[Pace, int]:
    over = Event()
    with ThreadPoolExecutor(1) as onlooker:
        seen = onlooker.submit(lambda: asyncio.run(_looks(folder, over)))
        try:
            pace = play(_WORKERS, folder, _REPEATS)
        finally:
            over.set()
        return pace, seen.result()


async def _looks(folder: Path, over: Event) -> int:
    """Look at a run as the page of `arena watch` does, and return how many pictures came."""
    seen = 0
    while not over.is_set():
        try:
            async with aclosing(film(folder)) as pictures:
                async for one in pictures:
                    seen += bool(one.picture)
        except StoreError:  # it has not begun
            await asyncio.sleep(_AGAIN_S)
    return seen
