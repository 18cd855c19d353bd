"""A context manager that one task of its own enters and leaves, whoever opens and closes it."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Generic, TypeVar

Value = TypeVar("Value")


class _BrokenOffError(Exception):
    """Lets the context know that its block did not come to its own end."""


class Held(Generic[Value]):
    """An entered context manager: deadlines inside it belong to the task that entered it.

    Attributes:
        value: what it gave when it was entered.
    """

    def __init__(self, context: AbstractAsyncContextManager[Value]) -> None:
        self.value: Value
        self._context = context
        self._released = asyncio.Event()
        self._broke_off = False
        self._entered: asyncio.Future[Value] = asyncio.get_running_loop().create_future()
        self._holder = asyncio.create_task(self._hold())

    @classmethod
    async def enter(cls, context: AbstractAsyncContextManager[Value]) -> Held[Value]:
        """Enter a context manager; what it raises is raised here.

        Cancelling the call leaves nothing entered.
        """
        held = cls(context)
        try:
            held.value = await asyncio.shield(held._entered)
        except BaseException:
            held._holder.cancel()
            await asyncio.wait([held._holder])
            raise
        return held

    async def leave(self, *, broke_off: bool = False) -> None:
        """Leave it; safe to repeat, and not cut short by a cancellation of the caller.

        Args:
            broke_off: the block did not come to its own end; the context sees an exception.
        """
        self._broke_off = self._broke_off or broke_off
        self._released.set()
        await asyncio.shield(self._holder)

    async def _hold(self) -> None:
        try:
            async with self._context as value:
                self._entered.set_result(value)
                await self._released.wait()
                if self._broke_off:
                    raise _BrokenOffError  # noqa: TRY301  the context is to see it
        except _BrokenOffError:
            pass
        except BaseException as error:
            if self._entered.done():
                raise
            self._entered.set_exception(
                RuntimeError("entering was cancelled")
                if isinstance(error, asyncio.CancelledError)
                else error
            )
            if isinstance(error, asyncio.CancelledError):
                self._entered.exception()  # whoever cancelled it waits for no result
                raise
