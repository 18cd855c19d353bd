"""System V IPC: what outlives the processes that made it."""

from __future__ import annotations

import ctypes
import errno
import os

from failure import Failure

_REMOVE = 0  # IPC_RMID
_GONE = (errno.EINVAL, errno.EIDRM)
_libc = ctypes.CDLL(None, use_errno=True)


def remove_all() -> None:
    """Remove every shared memory segment, queue and set of semaphores of the IPC namespace.

    Raises:
        Failure: one belongs to another user.
    """
    for kind in ("shm", "msg", "sem"):
        for number in _present(kind):
            if _remove(kind, number) == -1 and ctypes.get_errno() not in _GONE:
                why = os.strerror(ctypes.get_errno())
                msg = f"System V {kind} {number} cannot be removed: {why}"
                raise Failure(msg)


def _present(kind: str) -> list[int]:
    try:
        with open(f"/proc/sysvipc/{kind}", "rb") as file:
            return [int(line.split()[1]) for line in file.readlines()[1:]]
    except FileNotFoundError:
        return []  # a kernel without it


def _remove(kind: str, number: int) -> int:
    if kind == "shm":
        return int(_libc.shmctl(number, _REMOVE, None))
    if kind == "msg":
        return int(_libc.msgctl(number, _REMOVE, None))
    return int(_libc.semctl(number, 0, _REMOVE))
