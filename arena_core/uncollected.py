"""Reading thousands of records without Python's garbage collector looking at each again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector from looking at thousands of new records again and again.

    They hold no cycles, and reading a long episode takes twice as long while it looks. What is gone
    when the block ends is never looked at.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
