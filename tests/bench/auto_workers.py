"""Episodes per minute of `arena eval --workers auto` beside the best of the fixed numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bench.figures import Figure
from bench.workers import play

_FIXED: Final = ("1", "2", "3", "4")
_NEAR: Final = 0.95


def auto_figures(folder: Path) -> list[Figure]:
    """Play the same mixed tasks with each fixed number and with `auto`; the reference is the best.

    What other programs do to the machine meanwhile hits each of them at another time: look at
    `load` before you believe a difference.
    """
    fixed = [play(workers, folder / workers) for workers in _FIXED]
    auto = play("auto", folder / "auto")
    best = max(fixed, key=lambda pace: pace.a_minute)
    return [
        Figure(
            f"episodes per minute, workers {pace.workers} (cores {pace.busy:.0%} busy;"
            f" ref.: the best fixed number, {best.workers})",
            pace.a_minute,
            best.a_minute,
            pace.a_minute / best.a_minute,
            f"at least {_NEAR:.0%} of it" if pace is auto else "",
            met=pace.a_minute >= _NEAR * best.a_minute if pace is auto else None,
            rounds=pace.episodes,
            load=pace.load,
        )
        for pace in (*fixed, auto)
    ]
