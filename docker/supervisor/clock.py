"""The site's clock: at one moment at every start and rewind, and running from there.

Services see it through a library (`clock.c`) that adds one number, which all of them share in a
file, to the monotonic clock. So it never runs backwards but where it is put back.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from failure import Failure

_NUMBER = struct.Struct("=q")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Times(NamedTuple):
    """What an image says about its clock.

    Attributes:
        now: the moment that it is put back to; with a time zone.
        file: where the number is; in a folder that the services can read.
        library: what makes a process see it.
    """

    now: datetime
    file: str
    library: str


class Clock:
    """The number, and how services come to it. Its file stays while scratch folders are emptied."""

    def __init__(self, times: Times) -> None:
        """Make the file. Raises Failure where that cannot be done, or the library is missing."""
        self._times = times
        began = times.now - _EPOCH
        self._began_ns = began // timedelta(microseconds=1) * 1000
        try:
            os.stat(times.library)
            os.makedirs(os.path.dirname(times.file), exist_ok=True)
            self._file = os.open(times.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o444)
            os.ftruncate(self._file, _NUMBER.size)
            # One store of eight bytes: nobody reads half of a number.
            self._number = memoryview(mmap.mmap(self._file, _NUMBER.size)).cast("q")
        except OSError as cause:
            msg = f"the clock cannot be made: {cause}"
            raise Failure(msg) from cause

    @property
    def path(self) -> str:
        """The file."""
        return self._times.file

    @property
    def environment(self) -> dict[str, str]:
        """What a service's environment needs so that it sees this clock."""
        return {"LD_PRELOAD": self._times.library, "ARENA_CLOCK": self._times.file}

    def put_back(self, moment_ns: int | None = None) -> None:
        """Make it the first moment again, or another one, for every process at once.

        Args:
            moment_ns: since 1970.

        Raises:
            Failure: somebody put another file in the place of the clock's.
        """
        try:
            found = os.stat(self._times.file)
        except OSError as cause:
            msg = f"the clock's file is gone: {cause}"
            raise Failure(msg) from cause
        if not os.path.samestat(found, os.fstat(self._file)):
            msg = f"the clock's file {self._times.file} was replaced"
            raise Failure(msg)
        began_ns = self._began_ns if moment_ns is None else moment_ns
        self._number[0] = began_ns - time.monotonic_ns()

    def now_ns(self) -> int:
        """Return the site's time in nanoseconds since 1970."""
        return time.monotonic_ns() + self._number[0]

    def now(self) -> str:
        """Return the site's time as ISO 8601 writes it."""
        return written(self.now_ns())


def written(moment_ns: int) -> str:
    """Return a moment, in nanoseconds since 1970, as ISO 8601 writes it."""
    return (_EPOCH + timedelta(microseconds=moment_ns // 1000)).isoformat()
