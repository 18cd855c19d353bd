"""Episodes per minute of `arena eval` with more and more workers, and how busy the cores were."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Final

from bench.figures import Figure
from bench.machine import CpuLog, cpu_log, taken_by

_WORKERS: Final = ("1", "2", "4", "8")
_REPEATS: Final = 4
# Half of them write: into the basket, a wish list, the catalogue, an order.
_TASKS: Final = (
    "wiki-bells-of-bruges",
    "shop-latest-order-total",
    "shop-cheapest-compass",
    "shop-kettle-price",
    "shop-rain-jacket-in-basket",
    "shop-wish-list-compass",
    "shop-order-chess-set",
    "merchant-change-a-price",
)
_FULL: Final = 0.9
_RISE: Final = 1.05


@dataclass(frozen=True, slots=True)
class Pace:
    """What one run came to.

    Attributes:
        a_minute: finished episodes, from the start of the first to the end of the last.
        busy: share of all cores that were busy meanwhile.
        load: how many processes wanted a core before it began, over the last minute.
        cpu_s: what Arena and its browser took of all cores.
    """

    workers: str
    episodes: int
    a_minute: float
    busy: float
    load: float
    cpu_s: float = 0.0


def worker_figures(folder: Path) -> list[Figure]:
    """Play the same mixed tasks with each number of workers; the reference is one worker."""
    paces = [play(workers, folder / workers) for workers in _WORKERS]
    alone = paces[0]
    rising = dict(_risen(paces))
    return [
        Figure(
            f"episodes per minute, {pace.workers} workers (cores {pace.busy:.0%} busy; ref.: one)",
            pace.a_minute,
            alone.a_minute,
            pace.a_minute / alone.a_minute,
            "" if pace is alone else _goal(paces, pace),
            met=rising.get(pace.workers),
            rounds=pace.episodes,
        )
        for pace in paces
    ]


def _risen(paces: list[Pace]) -> Iterator[tuple[str, bool]]:
    """Say of each number of workers whether it was worth it, as long as cores were left."""
    for before, pace in pairwise(paces):
        if before.busy < _FULL:
            yield pace.workers, pace.a_minute >= _RISE * before.a_minute


def _goal(paces: list[Pace], pace: Pace) -> str:
    before = paces[paces.index(pace) - 1]
    if before.busy >= _FULL:
        return f"none: {before.workers} fill the cores ({before.busy:.0%})"
    return "more than with half the workers"


def play(workers: str, folder: Path, repeats: int = _REPEATS) -> Pace:
    """Play the mixed tasks with so many workers, and return how fast that was."""
    command = ["arena", "eval", *_TASKS, "--suite", "demo", "--offline", "--agent", "oracle"]
    options = ["--workers", workers, "--repeats", str(repeats), "--out", str(folder)]
    with cpu_log() as log:
        taken, _ = taken_by([*command, *options])
    return replace(_pace(workers, folder, log), load=taken.load, cpu_s=taken.cpu_s)


def _pace(workers: str, folder: Path, log: CpuLog) -> Pace:
    with sqlite3.connect(folder / "ledger.sqlite") as connection:
        rows = connection.execute(
            "SELECT started_at, ended_at, outcome FROM attempt WHERE state = 'finished'"
        ).fetchall()
    connection.close()
    outcomes = {outcome for _, _, outcome in rows}
    assert outcomes == {"success"}, f"{workers} workers: {outcomes}"
    begins = min(_seconds(started) for started, _, _ in rows)
    ends = max(_seconds(ended) for _, ended, _ in rows)
    minutes = (ends - begins) / 60
    return Pace(workers, len(rows), len(rows) / minutes, log.busy_share(begins, ends), 0.0)


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
