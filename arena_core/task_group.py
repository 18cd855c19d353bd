"""Task groups whose failure is an ordinary error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from arena_core.errors import ArenaError


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """Run a task group; where tasks failed, raise the first `ArenaError` instead of a group.

    A failure that is no `ArenaError` is a bug and wins, so that it is never hidden behind one.
    """
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failures:
        raise _most_telling(failures)  # noqa: B904  it keeps the cause it has


def _most_telling(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    leaves = _leaves(failures)
    foreign = [leaf for leaf in leaves if not isinstance(leaf, ArenaError)]
    return (foreign or leaves)[0]


def _leaves(failures: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    return [
        leaf
        for failure in failures.exceptions
        for leaf in (_leaves(failure) if isinstance(failure, BaseExceptionGroup) else [failure])
    ]
