"""The way from a command into asyncio and back, Ctrl-C and TERM included."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TypeVar

from arena_core.errors import InterruptedRunError

Result = TypeVar("Result")


def run(work: Coroutine[object, object, Result]) -> Result:
    """Run a command's coroutine to its end.

    Raises:
        InterruptedRunError: the user pressed Ctrl-C, or TERM came; the coroutine was cancelled and
            cleaned up.
    """
    try:
        return asyncio.run(_until_term(work))
    except KeyboardInterrupt:
        message = "interrupted"
        raise InterruptedRunError(message) from None


async def _until_term(work: Coroutine[object, object, Result]) -> Result:
    """Let TERM end the work as Ctrl-C does: what it started is taken down again."""
    loop, working = asyncio.get_running_loop(), asyncio.current_task()
    ended = False

    def on_term() -> None:
        nonlocal ended
        if working is not None and not ended:
            ended = True
            working.cancel()

    loop.add_signal_handler(signal.SIGTERM, on_term)
    try:
        return await work
    except asyncio.CancelledError:
        if not ended or working is None:
            raise
        working.uncancel()
        message = "ended by TERM"
        raise InterruptedRunError(message) from None
    finally:
        loop.remove_signal_handler(signal.SIGTERM)


@contextmanager
def two_interrupts(first: Callable[[], None], stopped: InterruptedRunError) -> Iterator[None]:
    """Let Ctrl-C ask politely once, then stop the block; a third changes nothing.

    TERM stops the block too, and says so by itself (see `run`).

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
