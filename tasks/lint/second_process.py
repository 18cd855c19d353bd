"""Work that is done in a second process, while this one does something else."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Found = TypeVar("Found")


def begun(work: Callable[[], Found]) -> Callable[[], Found]:
    """Begin the work in a copy of this process; return what waits for its result.

    A copy of a process with several threads may find a lock held by one that it lacks: there, and
    elsewhere than on Linux, the work is done here when its result is asked for. So it is where the
    copy dies, or the work raises an error.

    Args:
        work: its result can be pickled.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return work
    context = get_context("fork")
    answer, to_send = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(work, to_send), daemon=True)
    process.start()
    to_send.close()

    def found() -> Found:
        try:
            result: Found = answer.recv()
        except EOFError:
            result = work()
        process.join()
        return result

    return found


def _answer(work: Callable[[], object], to_send: Connection) -> None:
    # The event loop's own ways of hearing signals are shared with the process that was copied.
    signal.set_wakeup_fd(-1)
    for heard in (signal.SIGINT, signal.SIGTERM):
        signal.signal(heard, signal.SIG_DFL)
    with suppress(Exception):  # where the work is done again, it is raised
        to_send.send(work())
