"""The way from a command into asyncio and back, Ctrl-C included."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from sites.errors import InterruptedRunError

Result = TypeVar("Result")


def run(work: Coroutine[object, object, Result]) -> Result:
    """Run a command's coroutine to its end.

    Raises:
        InterruptedRunError: the user pressed Ctrl-C; the coroutine was cancelled and cleaned up.
    """
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        message = "interrupted"
        raise InterruptedRunError(message) from None
