"""Work on the tasks of a suite in as many processes as there are cores."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

Found = TypeVar("Found")
Work = Callable[[Collection[str]], Found]
_WORTH_IT: Final = 100  # tasks of one process: a second or more


def in_processes(names: Sequence[str], work: Work[Found]) -> list[Found]:
    """Return what the work finds of tasks, by parts of them.

    A process is a copy of this one as it stands, so nothing but what is found is sent. A copy of a
    process with several threads may hold the lock of one that it lacks: there, and elsewhere than
    on Linux, all of it is done here. So is the part of a process that dies.

    Args:
        names: of the tasks.
        work: takes the names of one part; what it finds can be pickled.
    """
    most = len(os.sched_getaffinity(0)) if _can_copy() else 1
    count = max(1, min(most, len(names) // _WORTH_IT))
    mine, *others = [names[at::count] for at in range(count)]
    begun = [_begin(work, part) for part in others]
    found = [work(mine)]
    for part, (process, answer) in zip(others, begun, strict=True):
        try:
            found.append(answer.recv())
        except EOFError:
            found.append(work(part))
        process.join()
    return found


def _can_copy() -> bool:
    return sys.platform == "linux" and threading.active_count() == 1


def _begin(work: Work[Found], part: Sequence[str]) -> tuple[ForkProcess, Connection]:
    context = get_context("fork")
    answer, to_send = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(work, part, to_send), daemon=True)
    process.start()
    to_send.close()
    return process, answer


def _answer(work: Work[Found], part: Sequence[str], to_send: Connection) -> None:
    # The event loop's own ways of hearing signals are shared with the process that was copied.
    signal.set_wakeup_fd(-1)
    for heard in (signal.SIGINT, signal.SIGTERM):
        signal.signal(heard, signal.SIG_DFL)
    with suppress(Exception):  # where the part is done again, it is raised
        to_send.send(work(part))
