"""Replicas of a pool without containers."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from orchestrator.sandbox.pool.pool_context import ReadyReplica
from orchestrator.sandbox.pool.pooled_replica import PooledReplica
from orchestrator.sandbox.reset.state import TakenState

NOBODY: Any = None


class MadeReplica(PooledReplica):
    """A seat without a container: starting and renewing take a turn of the loop, or fail."""

    def __init__(self, name: str, failures: list[Exception] | None = None) -> None:
        self.name = name
        self.failures = failures or []
        self.starts = 0
        self.renewals: list[bool] = []
        self.led_to: list[TakenState | None] = []
        self.golden = asyncio.Event()
        self.golden.set()
        self.holders = 0
        self.spoilt_once: str | None = None
        self.removed = False

    @property
    def label(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        return f"{self.name} resting"

    async def start(self) -> ReadyReplica:
        self.starts += 1
        return await self._make()

    async def renew(
        self, ready: ReadyReplica, *, wrote: bool, start: TakenState | None = None
    ) -> ReadyReplica:
        self.renewals.append(wrote)
        self.led_to.append(start)
        return await self._make(start)

    async def spoilt(self, ready: ReadyReplica) -> str | None:
        await asyncio.sleep(0)
        why, self.spoilt_once = self.spoilt_once, None
        return why

    async def vacate(self) -> None:
        self.removed = True

    async def _make(self, start: TakenState | None = None) -> ReadyReplica:
        await self.golden.wait()
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.pop(0)
        watch: Any = SimpleNamespace(taken=start)
        return ReadyReplica(replica=NOBODY, watch=watch)


async def quiet() -> None:
    for _ in range(20):
        await asyncio.sleep(0)
