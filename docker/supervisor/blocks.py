"""What a file holds, as the blocks in which it differs from a file of the pristine copy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import FileIO
from typing import NamedTuple

from failure import Refusal

BLOCK = 4096
_CHUNK = 256 * BLOCK
_MOST_SENT = 1 << 30


class Content(NamedTuple):
    """What a file holds.

    Attributes:
        base: the file that it is compared with; None: with no bytes at all.
        size: in bytes.
        blocks: the number of each block that differs, and its bytes. What lies beyond the end of
            the base and in no block is zero.
    """

    base: bytes | None
    size: int
    blocks: tuple[tuple[int, bytes], ...] = ()


class Budget:
    """How many bytes of blocks may be kept: all of them are in memory, beside the services."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._left = most

    def spend(self, count: int) -> None:
        """Take so many bytes. Raises Refusal where too few are left."""
        self._left -= count
        if self._left < 0:
            msg = f"the state differs from its image by more than {self._most >> 20} MB"
            raise Refusal(msg)


def read_content(path: bytes, base: bytes | None, budget: Budget) -> Content:
    """Read a file and keep what differs from the base.

    Raises:
        OSError: it cannot be read.
        Refusal: more differs than the budget has left.
    """
    with open(path, "rb", buffering=0) as file:
        if base is None:
            return _differences(file, None, base, budget)
        with open(base, "rb", buffering=0) as other:
            return _differences(file, other, base, budget)


def write_content(copy: int, content: Content, path: bytes) -> None:
    """Write a file's content from the beginning of an open file, whatever it held before.

    Raises:
        OSError: there is no room; it names the path.
    """
    try:
        if content.base is not None:
            source = os.open(content.base, os.O_RDONLY | os.O_CLOEXEC)
            try:
                while os.sendfile(copy, source, None, _MOST_SENT):
                    pass
            finally:
                os.close(source)
        held = os.lseek(copy, 0, os.SEEK_CUR)
        if os.fstat(copy).st_size > held:
            os.ftruncate(copy, held)
        if held != content.size:
            os.ftruncate(copy, content.size)
        for number, data in content.blocks:
            _write_block(copy, data, number * BLOCK)
    except OSError as cause:
        cause.filename = os.fsdecode(path)  # the call itself knows none
        raise


def _write_block(copy: int, data: bytes, at: int) -> None:
    while data:
        written = os.pwrite(copy, data, at)
        data, at = data[written:], at + written


def _differences(file: FileIO, other: FileIO | None, base: bytes | None, budget: Budget) -> Content:
    blocks: list[tuple[int, bytes]] = []
    at = 0
    while chunk := _read(file):
        beside = b"" if other is None else _read(other)[: len(chunk)]
        if chunk != beside:
            for number, data in _differing(at // BLOCK, chunk, beside.ljust(len(chunk), b"\0")):
                budget.spend(len(data))
                blocks.append((number, data))
        at += len(chunk)
    return Content(base, at, tuple(blocks))


def _differing(first: int, chunk: bytes, beside: bytes) -> Iterator[tuple[int, bytes]]:
    for start in range(0, len(chunk), BLOCK):
        data = chunk[start : start + BLOCK]
        if data != beside[start : start + BLOCK]:
            yield first + start // BLOCK, data


def _read(file: FileIO) -> bytes:
    """Read a whole chunk, fewer bytes only at the end: a raw read may stop before."""
    parts: list[bytes] = []
    left = _CHUNK
    while left and (part := file.read(left)):
        parts.append(part)
        left -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
