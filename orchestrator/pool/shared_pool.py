"""The one replica of a site without state, shared by all slots."""

from __future__ import annotations

import asyncio
import time

from arena_core.errors import ArenaError
from orchestrator.pool.pool_context import ReadyReplica
from orchestrator.pool.pooled_replica import PooledReplica
from orchestrator.pool.replica_pools import ReplicaLease


class SharedPool:
    """A site without state: one replica for all."""

    def __init__(self, pooled: PooledReplica) -> None:
        self._pooled = pooled
        self._ready: ReadyReplica | None = None
        self._one_at_a_time = asyncio.Lock()
        self._warming: asyncio.Task[ReplicaLease] | None = None

    async def take(self) -> ReplicaLease:
        """Return the replica, started or replaced where that is needed."""
        began = time.monotonic()
        async with self._one_at_a_time:
            if self._ready is not None and await self._pooled.spoilt(self._ready):
                self._ready = None
            if self._ready is None:
                self._ready = await self._pooled.start()
            waited = time.monotonic() - began
            return ReplicaLease(pooled=self._pooled, ready=self._ready, waited=waited)

    def warm(self) -> None:
        """Start it in the background; who takes it next waits for that."""
        self._warming = asyncio.create_task(self.take())
        # Whoever takes it next tries again, and gets the error where that fails too.
        self._warming.add_done_callback(lambda work: work.cancelled() or work.exception())

    def put_back(self, leased: ReplicaLease) -> None:
        """Do nothing: it was not taken from anybody."""

    def renew(self, leased: ReplicaLease, *, wrote: bool) -> None:
        """Do nothing: nobody can change it."""

    async def up(self) -> tuple[ReadyReplica | ArenaError, ...]:
        """Start it and log every role in."""
        try:
            leased = await self.take()
            await self._pooled.log_everybody_in(leased.ready)
        except ArenaError as failure:
            return (failure,)
        return (leased.ready,)

    def states(self) -> tuple[str, ...]:
        """Say what it does now."""
        return (self._pooled.state,)

    async def close(self, *, keep: bool) -> None:
        """Remove the replica unless it is to stay."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait([self._warming])
        if not keep:
            await self._pooled.vacate()
