"""What a process hands down to those that it forks, and others can change from outside."""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple

_NICE, _REAL_TIME, _POLICY = 16, 37, 38  # fields of /proc/PID/stat after the program's name


class Traits(NamedTuple):
    """How a process may use the machine.

    Attributes:
        limits: as /proc/PID/limits writes them.
        killed_early: its oom_score_adj.
        scheduling: niceness, real-time priority, policy and processors of its threads.
    """

    limits: bytes
    killed_early: bytes
    scheduling: frozenset[tuple[bytes, bytes, bytes, frozenset[int]]]


def traits_of(pid: int) -> Traits | None:
    """Return a process's traits; None where they cannot be read, as of one that has ended."""
    try:
        return Traits(
            limits=_read(f"/proc/{pid}/limits"),
            killed_early=_read(f"/proc/{pid}/oom_score_adj"),
            scheduling=frozenset(_scheduling(pid)),
        )
    except OSError:
        return None


def _scheduling(pid: int) -> list[tuple[bytes, bytes, bytes, frozenset[int]]]:
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # it has ended
            fields = _read(f"/proc/{pid}/task/{thread}/stat").rpartition(b")")[2].split()
            processors = frozenset(os.sched_getaffinity(int(thread)))
            found.append((fields[_NICE], fields[_REAL_TIME], fields[_POLICY], processors))
    return found


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
