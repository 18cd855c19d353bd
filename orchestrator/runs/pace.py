"""How many episodes are played side by side: a number, or `auto`, which follows the machine.

Nothing here looks at the machine: what it bore comes in, and the next number comes out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, WithJsonSchema

AUTO: Final = "auto"

_MOST_AT_FIRST: Final = 4
_MIB: Final = 1 << 20
BROWSER_BYTES: Final = 300 * _MIB
_LEAST_FREE_BYTES: Final = 512 * _MIB
_LEAST_FREE_SHARE: Final = 0.05
# Below the first, most cores are free when something wants one; above the second, work queues.
_RAISES_BELOW: Final = 0.6
_LOWERS_ABOVE: Final = 0.85
_PATIENCE: Final = 8  # looks


def _count_or_auto(given: object) -> object:
    """Return a number of workers, also where a command line has it as text."""
    if isinstance(given, str) and given.isascii() and given.isdecimal():
        given = int(given)
    if given == AUTO or (isinstance(given, int) and not isinstance(given, bool) and given >= 1):
        return given
    raise ValueError("must be a number from 1, or auto")


Workers = Annotated[
    int | Literal["auto"],
    BeforeValidator(_count_or_auto),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": AUTO}]}),
]


def at_first(workers: int | Literal["auto"]) -> int:
    """Return how many play at first: `auto` begins with one a core, and no more than four."""
    if isinstance(workers, int):
        return workers
    return min(os.cpu_count() or 1, _MOST_AT_FIRST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a machine bore for a while, and what it has left.

    Attributes:
        cpu: for which share of the time something that could run waited for a core, 0 to 1.
        free_bytes: of memory, until the machine or the control group has none.
        total_bytes: of memory, all that these may use.
    """

    cpu: float
    free_bytes: int
    total_bytes: int

    @property
    def kept_free_bytes(self) -> int:
        """Memory that is left alone."""
        return max(_LEAST_FREE_BYTES, int(self.total_bytes * _LEAST_FREE_SHARE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What bounds a number of workers, whatever the cores do.

    Attributes:
        least: cores alone never lead below it: with one worker a core, what waits for cores waits
            for other programs too, and fewer workers would only leave the cores to these.
        most: the number for which there are episodes and replicas.
        each_bytes: what one more worker takes of memory.
    """

    least: int = 1
    most: int
    each_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How many workers play, and which number was too many for the cores.

    Attributes:
        too_many: it is not tried again for `looks` looks; 0 where there is none.
        patience: for how many it was left alone the last time, which doubles.
    """

    workers: int
    too_many: int = 0
    looks: int = 0
    patience: int = 0


def next_pace(pace: Pace, load: Load, room: Room) -> tuple[Pace, str]:
    """Return the pace after a look at the machine, and why it is another one: empty if it is not.

    It changes by one worker at a time.
    """
    waiting = replace(pace, looks=max(0, pace.looks - 1))
    workers, cpu = pace.workers, f"work waited for a core {load.cpu:.0%} of the time"
    free = f"{load.free_bytes / _MIB:,.0f} MiB of memory are free"
    if load.free_bytes < load.kept_free_bytes:
        return (replace(waiting, workers=workers - 1), free) if workers > 1 else (waiting, "")
    if load.cpu > _LOWERS_ABOVE and workers > max(1, room.least):
        again = workers == pace.too_many
        patience = 2 * pace.patience if again else _PATIENCE
        fewer = Pace(workers=workers - 1, too_many=workers, looks=patience, patience=patience)
        return fewer, cpu
    more = workers + 1
    is_barred = waiting.looks > 0 and more >= pace.too_many
    has_memory = load.free_bytes - room.each_bytes >= load.kept_free_bytes
    if load.cpu < _RAISES_BELOW and more <= room.most and has_memory and not is_barred:
        return replace(waiting, workers=more), f"{cpu}, {free}"
    return waiting, ""
