"""Episodes per minute of `arena eval --workers auto` beside the best of the fixed numbers."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Final

from bench.figures import Figure
from bench.workers import Pace, play

_FIXED: Final = ("1", "2", "3", "4")
_NEAR: Final = 0.95
_ROUNDS: Final = 5


def auto_figures(folder: Path) -> list[Figure]:
    """Play the same mixed tasks with each fixed number, then with `auto` and the best in turns.

    The fastest of several runs was lucky, too: what chose the best number is not what `auto` is
    held against. Other programs on the machine hit single runs: look at `load` before you believe
    a difference.
    """
    fixed = [play(workers, folder / workers) for workers in _FIXED]
    best = max(fixed, key=lambda pace: pace.a_minute)
    auto: list[Pace] = []
    again: list[Pace] = []
    for number in range(_ROUNDS):
        auto.append(play("auto", folder / f"auto-{number}"))
        again.append(play(best.workers, folder / f"again-{number}"))
    held, reached = _median(again), _median(auto)
    return [
        *(
            Figure(
                f"episodes per minute, {pace.workers} workers (cores {pace.busy:.0%} busy;"
                f" ref.: the best, {best.workers})",
                pace.a_minute,
                best.a_minute,
                pace.a_minute / best.a_minute,
                "",
                rounds=pace.episodes,
                load=pace.load,
            )
            for pace in fixed
        ),
        Figure(
            f"episodes per minute, workers auto (ref.: {best.workers} workers again, in turns)",
            reached,
            held,
            reached / held,
            f"at least {_NEAR:.0%} of it",
            met=reached >= _NEAR * held,
            rounds=_ROUNDS,
            load=max(pace.load for pace in (*auto, *again)),
        ),
    ]


def _median(paces: list[Pace]) -> float:
    return median(pace.a_minute for pace in paces)
