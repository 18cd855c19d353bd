"""`settle.py NETWORK`: zero what OSRM writes of its memory without ever having set it, which differs at each run."""

from __future__ import annotations

import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

# An annotation is eight bytes; of the last one, travel mode and side of the road fill five bits.
_ANNOTATION, _USED = 8, 0b0001_1111
# The levels of a partition: a count, 16 offsets, 15 masks of which each level but the first has one.
_LEVELS, _MASKS, _MASK, _LEVELS_SIZE = 15, 24, 8, 272


def main(network: str) -> None:
    """Rewrite the two files of a network that hold such bytes."""
    _rewrite(Path(f"{network}.ebg_nodes"), "/common/ebg_node_data/annotations", _annotations)
    _rewrite(Path(f"{network}.partition"), "/mld/multilevelpartition/level_data", _levels)


def _rewrite(file: Path, part: str, settle: Callable[[bytearray], None]) -> None:
    whole = bytearray(file.read_bytes())
    with tarfile.open(file) as parts:
        found = parts.getmember(part)
    place = slice(found.offset_data, found.offset_data + found.size)
    settled = whole[place]
    settle(settled)
    whole[place] = settled
    file.write_bytes(whole)


def _annotations(data: bytearray) -> None:
    last = slice(_ANNOTATION - 1, None, _ANNOTATION)
    data[last] = bytes(byte & _USED for byte in data[last])


def _levels(data: bytearray) -> None:
    if len(data) != _LEVELS_SIZE:
        msg = f"levels of {len(data)} bytes: another OSRM, look at what it never sets"
        raise SystemExit(msg)
    unset = slice(_MASKS + (data[0] - 1) * _MASK, _MASKS + _LEVELS * _MASK)
    data[unset] = bytes(len(data[unset]))


if __name__ == "__main__":
    main(sys.argv[1])
