"""Opens files that came from elsewhere: regular ones alone, with a bound on what is read.

A folder that somebody else made may hold a link to any file of this machine, a FIFO that nobody
writes, a device that never ends, or a small file that unpacks without end. Each is refused as an
`OSError` whose `strerror` says why, so that readers treat it as any other file they cannot read.
"""

from __future__ import annotations

import errno
import gzip
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Final

MEGABYTE: Final = 1_000_000
LARGEST: Final = 256 * MEGABYTE


def open_regular(path: Path | str, *, follow: bool = False, most: int = LARGEST) -> BufferedReader:
    """Open a regular file for reading.

    Args:
        path: of the file.
        follow: it may be a link, as where a person named it; links in folders of others lead out.
        most: how many bytes it may have.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except OSError as cause:
        if cause.errno == errno.ELOOP and not follow:
            raise _unfit(path, "is a link, which may lead anywhere") from cause
        if cause.errno == errno.ENXIO:  # a socket
            raise _unfit(path, "is no regular file") from cause
        raise
    try:
        _require(path, os.fstat(handle), most)
    except OSError:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def read_regular(path: Path, *, follow: bool = False, most: int = LARGEST) -> bytes:
    """Return what a regular file holds; arguments and errors are those of `open_regular`."""
    parts: list[bytes] = []
    length = 0
    with open_regular(path, follow=follow, most=most) as file:
        # In pieces: it may grow, files of /proc do not say their size, and Python reserves at once
        # what one call may return.
        while part := file.read(MEGABYTE):
            parts.append(part)
            length += len(part)
            if length > most:
                raise _too_large(path, most)
    return b"".join(parts)


def require_regular(path: Path, *, most: int = LARGEST) -> None:
    """Refuse anything but a regular file of a bearable size; nothing there is fine."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise _unfit(path, "is a link, which may lead anywhere")
    _require(path, found, most)


def unpacked_lines(path: Path, *, most: int = LARGEST) -> Iterator[bytes]:
    """Yield the lines of a gzip file, whose content may have so many bytes, all lines together."""
    length = 0
    with (
        open_regular(path, most=most) as file,
        gzip.GzipFile(fileobj=file, mode="rb") as unpacked,
    ):
        while line := unpacked.readline(most - length + 1):
            length += len(line)
            if length > most:
                raise _unfit(path, f"unpacks to more than {most // MEGABYTE} MB")
            yield line


def _require(path: Path | str, found: os.stat_result, most: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise _unfit(path, "is no regular file")
    if found.st_size > most:
        raise _too_large(path, most)


def _too_large(path: Path | str, most: int) -> OSError:
    return _unfit(path, f"has more than {most // MEGABYTE} MB")


def _unfit(path: Path | str, why: str) -> OSError:
    return OSError(errno.EINVAL, why, str(path))
