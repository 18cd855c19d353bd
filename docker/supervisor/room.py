"""How much the live state may hold: a volume on a disk has no size of its own."""

from __future__ import annotations

import contextlib
import os
import time

from failure import Failure
from tree import walk

LOOK_S = 0.25
_WALK_S = 5.0
_STEP = 64 << 20
_MB = 1 << 20


class Room:
    """Looks at what a folder takes on its disk, and says when that is too much.

    No event tells of it without a privilege. Asking the file system for its free space costs
    microseconds; the folder itself is looked at where that fell, and every few seconds.
    """

    def __init__(self, folder: str, most_mb: int) -> None:
        self._folder = os.fsencode(folder)
        self._most_mb = most_mb
        self._free = 0
        self._walked = 0.0

    def check(self) -> None:
        """Raise Failure where the folder takes more than it may."""
        found = os.statvfs(self._folder)
        free = found.f_bfree * found.f_frsize
        now = time.monotonic()
        if self._free - free < _STEP and now - self._walked < _WALK_S:
            self._free = max(self._free, free)
            return
        self._free, self._walked = free, now
        used_mb = _used(self._folder) // _MB
        if used_mb > self._most_mb:
            msg = f"the state takes {used_mb} MB of the {self._most_mb} MB it may take"
            raise Failure(msg)


def _used(folder: bytes) -> int:
    """Return the bytes that a folder's files take, those included that are open but removed."""
    device = os.lstat(folder).st_dev
    blocks = {entry.status.st_ino: entry.status.st_blocks for entry in walk(folder)}
    for found in _removed():
        if found.st_dev == device:
            blocks[found.st_ino] = found.st_blocks
    return sum(blocks.values()) * 512


def _removed() -> list[os.stat_result]:
    """Return what processes hold open and has no name any more, as far as that can be seen."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        # The process has ended, or belongs to another user.
        with contextlib.suppress(OSError), os.scandir(f"/proc/{name}/fd") as opened:
            for entry in opened:
                with contextlib.suppress(OSError):
                    status = entry.stat()
                    if status.st_nlink == 0:
                        found.append(status)
    return found
