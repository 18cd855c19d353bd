"""How busy the machine is, how much memory it has left, and what a command takes of it."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_TICK_S: Final = 0.25


@dataclass(frozen=True, slots=True)
class CpuReading:
    """The counters of all cores at one moment.

    Attributes:
        at: Unix time, in seconds.
        busy, total: in the kernel's ticks, since it started.
    """

    at: float
    busy: int
    total: int

    @classmethod
    def now(cls) -> CpuReading:
        """Read them."""
        first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
        ticks = [int(word) for word in first.split()[1:9]]
        idle = ticks[3] + ticks[4]
        return cls(time.time(), sum(ticks) - idle, sum(ticks))


@dataclass(slots=True)
class CpuLog:
    """Readings of a stretch of time."""

    readings: list[CpuReading] = field(default_factory=list)

    def busy_share(self, begins: float, ends: float) -> float:
        """Return the busy share of all cores between two moments of Unix time."""
        inside = [one for one in self.readings if begins <= one.at <= ends]
        first, last = inside[0], inside[-1]
        return (last.busy - first.busy) / (last.total - first.total)


@contextmanager
def cpu_log() -> Iterator[CpuLog]:
    """Read the counters four times a second while the block runs."""
    log = CpuLog()
    over = threading.Event()

    def keep() -> None:
        while not over.is_set():
            log.readings.append(CpuReading.now())
            over.wait(_TICK_S)

    keeper = threading.Thread(target=keep)
    keeper.start()
    try:
        yield log
    finally:
        over.set()
        keeper.join()


@dataclass(frozen=True, slots=True)
class Taken:
    """What something took.

    Attributes:
        seconds: on the clock.
        cpu_s: of all cores, by its own processes and theirs.
        load: how many processes wanted a core before it began, over the last minute.
        mib: of memory at most, of its largest process.
    """

    seconds: float
    cpu_s: float
    load: float
    mib: float = 0.0


def taken_by(command: Sequence[str | Path]) -> tuple[Taken, str]:
    """Run a command to its end; return what it took, and what it printed."""
    load, began = os.getloadavg()[0], time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        said = running.stdout.read() if running.stdout else ""
        _, status, used = os.wait4(running.pid, 0)
        seconds = time.perf_counter() - began
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, command, said)
    return Taken(seconds, used.ru_utime + used.ru_stime, load, used.ru_maxrss / 1024), said


def available_mib() -> float:
    """Return how much memory a new process could get without swapping."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) / 1024
    message = "/proc/meminfo tells no MemAvailable"
    raise RuntimeError(message)
