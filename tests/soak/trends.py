"""What a long run needs, sample by sample, and whether any of it grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, linear_regression
from typing import Final

_HOUR_S: Final = 3600.0
# What may come and go without being a leak, in the figure's own unit.
_MAY_VARY: Final[Mapping[str, float]] = {
    "driver MB": 40,
    "driver descriptors": 15,
    "forker MB": 40,
    "forker descriptors": 15,
    "processes": 15,
    "containers": 3,
    "volumes": 3,
    "temporary files": 40,
    "temporary MB": 60,
}
FIGURES: Final = tuple(_MAY_VARY)
# A share of its mean that a figure may grow by, from the first sample to the last.
_MOST_GROWTH: Final = 0.1


@dataclass(frozen=True, slots=True)
class Sample:
    """The figures at one moment, by name; one that could not be read then is missing."""

    at_s: float
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Trend:
    """How one figure went, by a straight line through its samples.

    Attributes:
        growth: from the first sample to the last.
        of_a_day: what 24 hours would add at this slope.
    """

    name: str
    mean: float
    growth: float
    of_a_day: float

    @property
    def is_flat(self) -> bool:
        """Whether it grew by no more than comes and goes, or by a tenth."""
        return self.growth <= max(_MAY_VARY[self.name], _MOST_GROWTH * self.mean)


def trend(name: str, samples: Sequence[Sample]) -> Trend | None:
    """Return how a figure went; None where too few samples have it."""
    found = [(one.at_s, one.figures[name]) for one in samples if name in one.figures]
    if len(found) < 3:
        return None
    times, values = zip(*found, strict=True)
    slope = linear_regression(times, values).slope
    growth = slope * (times[-1] - times[0])
    return Trend(name, fmean(values), growth, slope * 24 * _HOUR_S)


def episodes_a_minute(ends_s: Sequence[float], begin_s: float, end_s: float) -> float:
    """Return how many episodes ended between two moments, a minute."""
    return sum(begin_s <= end < end_s for end in ends_s) * 60 / (end_s - begin_s)


def memory_mb(pid: int) -> float:
    """Return the resident memory of one process. Raises OSError where it is gone."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    message = f"process {pid} has ended"
    raise ProcessLookupError(message)


def descriptors(pid: int) -> int:
    """Return how many files and sockets a process has open. Raises OSError where it is gone."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def files_below(folder: Path) -> tuple[int, float]:
    """Return how many files lie below a folder, and their MB; one that goes meanwhile is none."""
    count, size = 0, 0
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                count, size = count + 1, size + path.stat().st_size
        except OSError:
            continue
    return count, size / 1e6
