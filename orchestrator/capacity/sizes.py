"""Amounts of memory as people write them."""

from __future__ import annotations

import re
from typing import Final

from arena_core.errors import UsageError

MIB: Final = 1 << 20
GIB: Final = 1 << 30

_UNITS: Final = {
    "kib": 1 << 10,
    "mib": MIB,
    "gib": GIB,
    "tib": 1 << 40,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "k": 1 << 10,
    "m": MIB,
    "g": GIB,
    "t": 1 << 40,
}
_WRITTEN: Final = re.compile(r"(\d+(?:\.\d+)?) ?([kmgt]i?b|[kmgt])", re.IGNORECASE | re.ASCII)


def parse_size(text: str) -> int:
    """Read `4GiB`, `512M` (binary, as Docker reads it) or `4GB` as bytes.

    Raises:
        UsageError: it is no positive number with a unit.
    """
    written = _WRITTEN.fullmatch(text.strip())
    size = int(float(written[1]) * _UNITS[written[2].lower()]) if written else 0
    if size <= 0:
        message = f"'{text}' is no amount of memory: expected a number and a unit"
        raise UsageError(message, hint="for example 4GiB or 512MiB")
    return size


def format_size(size_bytes: int) -> str:
    """Write bytes as MiB, from one GiB on as GiB."""
    if size_bytes >= GIB:
        return f"{size_bytes / GIB:.1f} GiB"
    return f"{size_bytes / MIB:.0f} MiB"
