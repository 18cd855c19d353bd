"""What one task enters another may leave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from arena_core.errors import LeaseError
from arena_core.held import Held


class Room:
    """A context that notes who was inside, and how it was left."""

    def __init__(self, *, failure: Exception | None = None, waits: bool = False) -> None:
        self.notes: list[str] = []
        self._failure = failure
        self.is_entered = asyncio.Event()
        self._waits = waits

    @asynccontextmanager
    async def open(self) -> AsyncIterator[int]:
        self.notes.append("entered")
        self.is_entered.set()
        inside = asyncio.current_task()
        try:
            if self._waits:
                await asyncio.Event().wait()
            if self._failure:
                raise self._failure  # noqa: TRY301
            async with asyncio.timeout(60):
                yield 42
            self.notes.append("left")
        except Exception:
            self.notes.append("broke off")
            raise
        finally:
            await asyncio.sleep(0)
            self.notes.append("by the same task" if asyncio.current_task() is inside else "other")


async def test_it_is_left_by_the_task_that_entered_it_whoever_asks() -> None:
    room = Room()
    held = await asyncio.create_task(Held.enter(room.open()))
    assert held.value == 42
    await asyncio.create_task(held.leave())
    await held.leave()
    assert room.notes == ["entered", "left", "by the same task"]


async def test_a_block_that_broke_off_is_seen_by_the_context() -> None:
    room = Room()
    held = await Held.enter(room.open())
    await held.leave(broke_off=True)
    assert room.notes == ["entered", "broke off", "by the same task"]


async def test_what_entering_raises_is_raised_to_whoever_enters() -> None:
    room = Room(failure=LeaseError("nothing was ready"))
    with pytest.raises(LeaseError, match="nothing was ready"):
        await Held.enter(room.open())
    assert room.notes[-1] == "by the same task"


async def test_a_cancelled_entering_leaves_nothing_entered() -> None:
    room = Room(waits=True)
    entering = asyncio.create_task(Held.enter(room.open()))
    await room.is_entered.wait()
    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering
    assert room.notes == ["entered", "by the same task"]


async def test_a_cancelled_leaving_is_done_all_the_same() -> None:
    room = Room()
    held = await Held.enter(room.open())
    leaving = asyncio.create_task(held.leave())
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    await held.leave()
    assert room.notes == ["entered", "left", "by the same task"]
