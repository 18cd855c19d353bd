"""Processes by their identifiers: who descends from whom, and how all of some end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import time
from collections import defaultdict
from collections.abc import Iterable

from failure import Failure

_SET_PDEATHSIG = 1
_SET_DUMPABLE = 4
_SET_CHILD_SUBREAPER = 36
_DEATH_S = 30.0
_libc = ctypes.CDLL(None)


def adopt_orphans() -> None:
    """Make the kernel hand over every descendant whose own parent ends, so that none is lost."""
    _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Make the kernel kill this process when the one that forked it ends."""
    _libc.prctl(_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def keep_memory_private() -> None:
    """Let no process of the same user read this one's memory or the environment it began with."""
    _libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def is_alone() -> bool:
    """Whether this process, just started, has the process namespace to itself, as in a container.

    Only then all others in it are its matter: run by hand, it must not touch them.
    """
    first = {1, os.getpid()}
    return (os.getpid() == 1 or os.getppid() == 1) and everybody() <= first


def everybody() -> set[int]:
    """Return every process of the process namespace."""
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def descendants(roots: set[int]) -> set[int]:
    """Return all that descends from some processes, without them; ended ones included."""
    children = defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                # The name of the program may hold blanks and parentheses; it ends at the last one.
                children[int(file.read().rpartition(b")")[2].split()[1])].append(int(name))
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        for child in children[waiting.pop()]:
            found.add(child)
            waiting.append(child)
    return found


def kill_all(pids: Iterable[int]) -> None:
    """Kill processes, in this order, and wait until each has ended with all its threads.

    One that has ended need not have been reaped by its parent.

    Raises:
        Failure: one did not end, or belongs to another user.
    """
    ends: dict[int, int] = {}
    poll = select.poll()
    try:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                end = os.pidfd_open(pid)
                ends[end] = pid
                poll.register(end, select.POLLIN)
                try:
                    signal.pidfd_send_signal(end, signal.SIGKILL)
                except PermissionError as cause:
                    msg = f"process {pid} belongs to another user"
                    raise Failure(msg) from cause
        deadline = time.monotonic() + _DEATH_S
        waiting = set(ends)
        while waiting:
            left = deadline - time.monotonic()
            if left <= 0:
                alive = sorted(ends[end] for end in waiting)
                msg = f"processes {alive} did not end within {_DEATH_S:.0f} s of KILL"
                raise Failure(msg)
            for end, _ in poll.poll(left * 1000):
                poll.unregister(end)
                waiting.discard(end)
    finally:
        for end in ends:
            os.close(end)
