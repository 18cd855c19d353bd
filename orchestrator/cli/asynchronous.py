"""The way from a command into asyncio and back, Ctrl-C included."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
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


@contextmanager
def two_interrupts(first: Callable[[], None], stopped: InterruptedRunError) -> Iterator[None]:
    """Let Ctrl-C ask politely once, then stop the block; a third changes nothing.

    Args:
        first: called at the first Ctrl-C; the block goes on.
        stopped: raised at the second, when the block has been cancelled and has cleaned up.
    """
    loop, playing = asyncio.get_running_loop(), asyncio.current_task()
    pressed = 0

    def on_signal() -> None:
        nonlocal pressed
        pressed += 1
        if pressed == 1:
            first()
        elif pressed == 2 and playing is not None:  # noqa: PLR2004
            playing.cancel()

    loop.add_signal_handler(signal.SIGINT, on_signal)
    try:
        yield
    except asyncio.CancelledError:
        if pressed < 2 or playing is None:  # noqa: PLR2004
            raise
        playing.uncancel()
        raise stopped from None
    finally:
        loop.remove_signal_handler(signal.SIGINT)
