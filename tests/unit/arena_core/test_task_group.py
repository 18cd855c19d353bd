from __future__ import annotations

import asyncio

import pytest

from arena_core.errors import ArenaError, LoginError
from arena_core.task_group import task_group


async def fail(error: Exception) -> None:
    raise error


async def test_an_error_of_arena_comes_out_bare() -> None:
    with pytest.raises(LoginError, match="wrong password"):
        async with task_group() as group:
            group.create_task(fail(LoginError("wrong password")))


async def test_a_bug_is_never_hidden_behind_an_error_of_arena() -> None:
    async def work() -> None:
        async with task_group() as group:
            group.create_task(fail(ArenaError("expected")))
            group.create_task(fail(ZeroDivisionError()))

    with pytest.raises(ZeroDivisionError):
        await work()


async def test_nested_groups_come_out_bare_too() -> None:
    async def nested() -> None:
        async with task_group() as inner:
            inner.create_task(fail(LoginError("deep")))

    with pytest.raises(LoginError, match="deep"):
        async with task_group() as group:
            group.create_task(nested())


async def test_the_others_are_cancelled_and_waited_for() -> None:
    ended = asyncio.Event()

    async def other() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def work() -> None:
        async with task_group() as group:
            group.create_task(other())
            await asyncio.sleep(0)
            group.create_task(fail(ArenaError("first")))

    with pytest.raises(ArenaError):
        await work()
    assert ended.is_set()
