"""Every process stands still for a moment, so that what they write is of one moment."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator

from failure import Refusal

_DEADLINE_S = 1.0
_LOOK_S = 0.0002
_STILL = (b"T", b"t", b"Z", b"X")


@contextlib.contextmanager
def frozen(others: Callable[[], set[int]]) -> Iterator[None]:
    """Stop all processes, those that they start meanwhile too, and let them go on afterwards.

    One that stood still before does so afterwards.

    Raises:
        Refusal: one did not stop in time: it waits for a disk, say. All go on.
    """
    deadline = time.monotonic() + _DEADLINE_S
    known: set[int] = set()
    stopped: list[int] = []
    try:
        while fresh := others() - known:
            known |= fresh
            for pid in sorted(fresh):
                if not _stands_still(pid):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGSTOP)
                        stopped.append(pid)
            for pid in fresh:
                while not _stands_still(pid):
                    if time.monotonic() > deadline:
                        msg = f"process {pid} did not stop within {_DEADLINE_S:g} s"
                        raise Refusal(msg)
                    # Only of its own children would the kernel tell.
                    time.sleep(_LOOK_S)
        yield
    finally:
        for pid in reversed(stopped):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def _stands_still(pid: int) -> bool:
    """Whether all threads of a process are stopped, or it has ended."""
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with (
                contextlib.suppress(FileNotFoundError, ProcessLookupError),
                open(f"/proc/{pid}/task/{thread}/stat", "rb") as file,
            ):
                if file.read().rpartition(b")")[2].split()[0] not in _STILL:
                    return False
    except (FileNotFoundError, ProcessLookupError):
        return True
    return True
