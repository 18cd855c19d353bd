from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from orchestrator.runs import worker as interfaces
from orchestrator.runs.worker import await_stillness


@asynccontextmanager
async def kernel(
    monkeypatch: pytest.MonkeyPatch, *, tells_every_s: float, times: int
) -> AsyncIterator[None]:
    """Stand in for a kernel that tells of a change so many times."""
    mouth, ear = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ear.setblocking(False)  # noqa: FBT003
    monkeypatch.setattr(interfaces, "_news", lambda: ear)

    async def tell() -> None:
        for _ in range(times):
            await asyncio.sleep(tells_every_s)
            mouth.send(b"an address came")

    with mouth, ear:
        telling = asyncio.create_task(tell())
        try:
            yield
        finally:
            telling.cancel()


async def test_it_waits_as_long_as_changes_follow_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with kernel(monkeypatch, tells_every_s=0.05, times=6):
        began = time.monotonic()
        await await_stillness(still_s=0.2, patience_s=30)
    assert time.monotonic() - began >= 6 * 0.05 + 0.2


async def test_changes_without_end_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async with kernel(monkeypatch, tells_every_s=0.02, times=10_000):
        async with asyncio.timeout(20):
            await await_stillness(still_s=5, patience_s=0.2)


async def test_where_the_kernel_tells_nothing_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> socket.socket:
        raise PermissionError

    monkeypatch.setattr(interfaces, "_news", refused)
    async with asyncio.timeout(5):
        await await_stillness(still_s=60, patience_s=60)


async def test_the_real_kernel_is_listened_to() -> None:
    with interfaces._news() as news:
        assert news.family == socket.AF_NETLINK
        assert news.getsockname()[1] == 0x111
