"""The calls of an episode: one at a time, cut short by its end, their faults its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from arena_core.errors import UsageError
from evaluators.evidence import UnscoredReason

Result = TypeVar("Result")


class EpisodeCalls:
    """Runs what the driver of an episode asks for.

    Args:
        break_off: ends the episode, for a reason that is not the agent's.
        break_off_by: makes an error the episode's outcome where it is a fault of the world or a
            bug; False where it is neither.

    Attributes:
        is_closed: the driver closed the episode: what is under way then is cut short.
    """

    def __init__(
        self,
        break_off: Callable[[UnscoredReason, str], None],
        break_off_by: Callable[[Exception], bool],
    ) -> None:
        self.is_closed = False
        self._break_off = break_off
        self._break_off_by = break_off_by
        self._call: str | None = None
        self._work: asyncio.Task[Any] | None = None

    @contextmanager
    def alone(self, call: str) -> Iterator[None]:
        """Refuse a call while another is under way: their steps could not be told apart."""
        if self._call is not None:
            message = f"{call}() was called while {self._call}() of the same episode is under way"
            raise UsageError(message, hint="await one call before the next")
        self._call = call
        try:
            yield
        finally:
            self._call = None

    async def guarded(
        self,
        doing: str,
        work: Coroutine[Any, Any, Result],
        *,
        is_undone_by_cancelling: bool = True,
    ) -> Result | None:
        """Await work that `cut_short` may end; a fault of the world becomes the outcome.

        Returns:
            What the work returns; None where it was cut short or the world broke.
        """
        caller = asyncio.current_task()
        task: asyncio.Task[Result] = asyncio.create_task(work)
        self._work = task
        try:
            return await task
        except asyncio.CancelledError:
            if self.is_closed and caller is not None and not caller.cancelling():
                self._break_off(UnscoredReason.INFRA, f"its driver closed it during {doing}")
                return None
            if is_undone_by_cancelling:
                self._break_off(UnscoredReason.INFRA, f"{doing} was cancelled before it was done")
            raise
        except Exception as error:
            if not self._break_off_by(error):
                raise
            return None
        finally:
            self._work = None

    async def cut_short(self) -> bool:
        """End the work that is under way, and wait until it has ended; whether there was none."""
        if self._work is None:
            return True
        self._work.cancel()
        await asyncio.wait([self._work])
        return False
