"""The way from a command into asyncio and back, Ctrl-C and TERM included."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

from arena_core.errors import AgentCrashedError, InterruptedRunError

Result = TypeVar("Result")


def run(work: Coroutine[object, object, Result]) -> Result:
    """Run a command's coroutine to its end."""
    results: list[Result] = []

    async def main() -> None:
        # asyncio.run writes out the whole result of its task, twice, and throws the text away: it
        # looks up the handler of SIGINT, and no enum has one (CPython's runners.py and signal.py).
        results.append(await _until_term(work))

    try:
        asyncio.run(main())
    except SystemExit as leaving:
        message = f"code that Arena called ended the process (exit code {leaving.code})"
        hint = "let an agent's own tasks and callbacks raise an exception in place of sys.exit()"
        raise AgentCrashedError(message, hint=hint) from leaving
    except KeyboardInterrupt:
        raise InterruptedRunError("interrupted") from None
    return results[0]


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
        raise InterruptedRunError("ended by TERM") from None
    finally:
        loop.remove_signal_handler(signal.SIGTERM)


@asynccontextmanager
async def interrupts() -> AsyncIterator[asyncio.Event]:
    """Make Ctrl-C the ordinary end, not a failure."""
    loop, pressed = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGINT, pressed.set)
    try:
        yield pressed
    finally:
        loop.remove_signal_handler(signal.SIGINT)


@contextmanager
def two_interrupts(
    first: Callable[[], bool], stopped: Callable[[], InterruptedRunError]
) -> Iterator[None]:
    """Let Ctrl-C ask politely once, then stop the block; a third changes nothing.

    TERM stops the block too, and says so by itself (see `run`).

    Args:
        first: called at the first Ctrl-C; the block goes on where it returns true, and is stopped
            where there is nothing yet that could be asked.
        stopped: makes the error of a block that was stopped and has cleaned up.
    """
    loop, playing = asyncio.get_running_loop(), asyncio.current_task()
    asked = ended = False

    def on_signal() -> None:
        nonlocal asked, ended
        if not asked and first():
            asked = True
        elif not ended and playing is not None:
            ended = True
            playing.cancel()

    loop.add_signal_handler(signal.SIGINT, on_signal)
    try:
        yield
    except asyncio.CancelledError:
        if not ended or playing is None:
            raise
        playing.uncancel()
        raise stopped() from None
    finally:
        loop.remove_signal_handler(signal.SIGINT)
