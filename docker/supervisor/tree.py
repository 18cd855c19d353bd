"""A folder as the file system sees it: every entry with what tells that it was changed."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_COARSE = 5  # CLOCK_REALTIME_COARSE: the clock that file systems take their times from
_TELLING = frozenset({b"ext2", b"ext3", b"ext4", b"xfs", b"btrfs", b"overlay"})

Marks = dict[bytes, tuple[int, ...]]


class Entry(NamedTuple):
    """One file, folder, link, … below a folder.

    Attributes:
        path: bytes, relative to the folder; empty for the folder itself.
        status: of the entry itself, never of what a link leads to.
    """

    path: bytes
    status: os.stat_result


def mark_of(status: os.stat_result) -> tuple[int, ...]:
    """Return what cannot stay the same when content, owner or mode changes, by the racy rule."""
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def marks_below(folder: str, parts: Iterable[str]) -> Marks:
    """Return the marks of parts of a folder and of all that they hold, by path."""
    found = {}
    for part in parts:
        root = os.fsencode(os.path.join(folder, part))
        for entry in walk(root):
            found[os.path.join(root, entry.path)] = mark_of(entry.status)
    return found


def kind_of(status: os.stat_result) -> str:
    """Return the letter that find(1) has for the type: `f` file, `d` folder, `l` link, …."""
    letter = stat.filemode(status.st_mode)[0]
    return "f" if letter == "-" else letter


def walk(folder: bytes, leave_out: frozenset[bytes] = frozenset()) -> Iterator[Entry]:
    """Yield the folder and every entry below it, each folder ahead of what it holds.

    Nothing is yielded where the folder is missing. What vanishes meanwhile is left out.
    """
    try:
        root = os.lstat(folder)
    except FileNotFoundError:
        return
    yield Entry(b"", root)
    if stat.S_ISDIR(root.st_mode):
        yield from _below(folder, b"", leave_out)


def _below(folder: bytes, inner: bytes, leave_out: frozenset[bytes]) -> Iterator[Entry]:
    with os.scandir(os.path.join(folder, inner)) as found:
        names = sorted(entry.name for entry in found)
    for name in names:
        path = os.path.join(inner, name)
        if path in leave_out:
            continue
        try:
            status = os.lstat(os.path.join(folder, path))
            yield Entry(path, status)
            if stat.S_ISDIR(status.st_mode):
                yield from _below(folder, path, leave_out)
        except FileNotFoundError:
            continue


def tells_changes(folder: bytes) -> bool:
    """Whether the folder's file system moves a file's time at every write, through mmap too.

    A file system in memory does not; of one that is not known it is not believed.
    """
    best, kind = b"", b""
    with open("/proc/self/mountinfo", "rb") as mounts:
        for line in mounts:
            before, _, after = line.partition(b" - ")
            point = before.split(b" ")[4].replace(b"\\040", b" ")
            inside = point == b"/" or (folder + b"/").startswith(point + b"/")
            if inside and len(point) >= len(best):
                best, kind = point, after.split(b" ", 1)[0]
    return kind in _TELLING


def now_ns() -> int:
    """Return the time that a file would get if it were written now."""
    return time.clock_gettime_ns(_COARSE)


def is_settled(status: os.stat_result, now: int) -> bool:
    """Whether a change from now on must move the entry's mark.

    The racy rule, as git has it: times move in ticks, so a change in the very tick in which the
    entry was looked at need not show.
    """
    return status.st_ctime_ns < now
