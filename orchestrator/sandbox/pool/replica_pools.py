"""The replicas of one site: ready ones are leased at once, used ones renewed behind that."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from arena_core.errors import ArenaError, StateError
from arena_core.task_group import task_group
from orchestrator.sandbox.pool.pool_context import ReadyReplica
from orchestrator.sandbox.pool.pooled_replica import PooledReplica

if TYPE_CHECKING:
    from evaluators.evidence import Receipt
    from orchestrator.sandbox.reset.state import TakenState


_Making = Callable[[], Coroutine[object, object, ReadyReplica]]
# Yields the starts of the episodes that wait, the next one first; None is golden.
Upcoming = Callable[[], Iterable["TakenState | None"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaLease:
    """A replica as an episode holds it.

    Attributes:
        waited: seconds until it was ready.
        swapped: it was ready at once, and is another one than the last that was given back.
    """

    pooled: PooledReplica
    ready: ReadyReplica
    waited: float = 0.0
    swapped: bool = False

    @property
    def receipt(self) -> Receipt | None:
        """The proof that it is golden, and how the episode came to it."""
        receipt = self.ready.receipt
        if receipt is None:
            return None
        return receipt.model_copy(update={"swapped": self.swapped, "waited": round(self.waited, 3)})


async def all_of(works: Iterable[Coroutine[object, object, None]]) -> None:
    """Do everything, whatever fails of it; raise the first failure when all is done."""
    outcomes = await asyncio.gather(*works, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome


class ReplicaPool(Protocol):
    """All replicas of one site."""

    async def take(self, start: TakenState | None = None) -> ReplicaLease:
        """Wait for a replica that is proven to be in a state: golden where none is given."""

    def foresee(self, upcoming: Upcoming) -> None:
        """Learn which starts will be wanted next, so that used replicas are brought to them."""

    def warm(self) -> None:
        """Start what will be needed before anybody asks, in the background."""

    def put_back(self, leased: ReplicaLease) -> None:
        """Give one back that nobody touched."""

    def renew(self, leased: ReplicaLease, *, wrote: bool) -> None:
        """Give a used one back; it is brought to a start that is wanted in the background."""

    async def up(self) -> tuple[ReadyReplica | ArenaError, ...]:
        """Start every replica and log every role in; failures are returned, the others go on."""

    def states(self) -> tuple[str, ...]:
        """Say what each replica does now."""

    async def close(self, *, keep: bool) -> None:
        """Cut short what is under way; remove the replicas unless they are to stay."""


@dataclass(frozen=True, slots=True)
class _Work:
    """A replica that is started or renewed, and the state that it will be in."""

    pooled: PooledReplica
    start: TakenState | None


@dataclass(frozen=True, slots=True)
class _Waiter:
    """Who waits for a replica, and the state that it is wanted in."""

    promise: asyncio.Future[tuple[PooledReplica, ReadyReplica]]
    start: TakenState | None


class ExclusivePool:
    """A site that holds state: each episode has a replica of its own.

    As many are started as are held or waited for, and the spares beyond; after `warm` as many as
    there are workers, at least.
    """

    def __init__(self, pools: Sequence[PooledReplica], spares: int) -> None:
        self._pools = tuple(pools)
        self._spares = spares
        self._idle = deque(pools)
        self._ready: deque[tuple[PooledReplica, ReadyReplica]] = deque()
        self._working: dict[asyncio.Task[None], _Work] = {}
        self._removing: set[asyncio.Task[None]] = set()
        self._waiting: deque[_Waiter] = deque()
        self._upcoming: Upcoming = tuple
        self._held = 0
        self._ahead = 0
        self._most = len(pools)
        self._used_last: PooledReplica | None = None
        self._is_closed = False

    async def take(self, start: TakenState | None = None) -> ReplicaLease:
        began = time.monotonic()
        at_once = not self._waiting and any(ready.start == start for _, ready in self._ready)
        while True:
            pooled, ready = await self._next(start)
            try:
                if ready.start != start:
                    ready = await pooled.renew(ready, wrote=False, start=start)
                spoilt = await pooled.spoilt(ready)
            except BaseException:
                self._renewing(pooled, ready, wrote=True)
                raise
            if spoilt is None:
                break
            at_once = False
            self._renewing(pooled, ready, wrote=True, start=start)
        return ReplicaLease(
            pooled=pooled,
            ready=ready,
            waited=time.monotonic() - began,
            swapped=at_once and self._used_last not in {None, pooled},
        )

    def foresee(self, upcoming: Upcoming) -> None:
        self._upcoming = upcoming

    def warm(self) -> None:
        self._ahead = len(self._pools) - self._spares
        self._stock()

    def resize(self, pools: Sequence[PooledReplica], spares: int) -> None:
        """Have as many replicas as these, and so many of them beyond the workers'.

        Args:
            pools: of which those beyond what it ever had are new to it.
            spares: see the class.
        """
        new = pools[len(self._pools) :]
        self._pools += tuple(new)
        self._idle.extend(new)
        self._most, self._spares = len(pools), spares
        if self._ahead:
            self._ahead = len(pools) - spares
        while self._ready and self._has_too_many:
            self._remove(self._ready.pop()[0])
        self._stock()

    def put_back(self, leased: ReplicaLease) -> None:
        self._held -= 1
        self._offer(leased.pooled, leased.ready)

    def renew(self, leased: ReplicaLease, *, wrote: bool) -> None:
        self._used_last = leased.pooled
        if self._has_too_many:
            self._held -= 1
            self._remove(leased.pooled)
            return
        self._renewing(leased.pooled, leased.ready, wrote=wrote, start=self._wanted(leased.ready))

    async def up(self) -> tuple[ReadyReplica | ArenaError, ...]:
        async def one(pooled: PooledReplica) -> ReadyReplica | ArenaError:
            try:
                ready = await pooled.start()
            except ArenaError as failure:
                self._idle.append(pooled)
                return failure
            self._offer(pooled, ready)
            try:
                await pooled.log_everybody_in(ready)
            except ArenaError as failure:
                return failure
            return ready

        idle = tuple(self._idle)
        self._idle.clear()
        async with task_group() as group:
            works = [group.create_task(one(pooled)) for pooled in idle]
        return tuple(work.result() for work in works)

    def states(self) -> tuple[str, ...]:
        resting = {*self._idle, *(pooled for pooled, _ in self._ready)}
        resting |= {work.pooled for work in self._working.values()}
        return tuple(
            pooled.state if pooled in resting else f"{pooled.label} held by an episode"
            for pooled in self._pools
        )

    async def close(self, *, keep: bool) -> None:
        self._is_closed = True
        works = (*self._working, *self._removing)
        for work in works:
            work.cancel()
        if works:
            await asyncio.wait(works)
        if not keep:
            await all_of(pooled.vacate() for pooled in self._pools)

    async def _next(self, start: TakenState | None) -> tuple[PooledReplica, ReadyReplica]:
        waiter = _Waiter(asyncio.get_running_loop().create_future(), start)
        promise = waiter.promise
        self._waiting.append(waiter)
        self._serve()
        self._stock()
        try:
            return await promise
        except asyncio.CancelledError:
            if promise.done() and not promise.cancelled() and promise.exception() is None:
                self._held -= 1
                self._offer(*promise.result())
            elif waiter in self._waiting:
                self._waiting.remove(waiter)
            raise

    def _serve(self) -> bool:
        """Hand ready replicas to those who wait, in their order; whether anybody got one.

        Whoever wants a state that no ready replica is in waits for one that is on its way there;
        where none is, the longest ready one is brought there.
        """
        coming = [work.start for work in self._working.values()]
        served = False
        for waiter in tuple(self._waiting):
            if waiter.promise.done():
                self._waiting.remove(waiter)
                continue
            there = (one for one in self._ready if one[1].start == waiter.start)
            chosen = next(there, None)
            if chosen is None and waiter.start in coming:
                coming.remove(waiter.start)
                continue
            if chosen is None and not self._ready:
                continue
            chosen = chosen or self._ready[0]
            self._ready.remove(chosen)
            self._waiting.remove(waiter)
            self._held += 1
            waiter.promise.set_result(chosen)
            served = True
        return served

    def _wanted(self, used: ReadyReplica) -> TakenState | None:
        """Return the first start that is wanted and that no other replica is in, or on its way to.

        Where all that are wanted are, it is the one that the used replica had: what it has only
        read it need not leave, and the branches of a checkpoint come many at a time.
        """
        there = [ready.start for _, ready in self._ready]
        there += [work.start for work in self._working.values()]
        for start in chain((one.start for one in self._waiting), self._upcoming()):
            if start not in there:
                return start
            there.remove(start)
        return used.start

    @property
    def _has_too_many(self) -> bool:
        """Whether more replicas are there than it is to have since it was resized."""
        return self._held + len(self._ready) + len(self._working) > self._most

    def _remove(self, pooled: PooledReplica) -> None:
        work = asyncio.create_task(self._removed(pooled), name=f"replica {pooled.label}")
        self._removing.add(work)
        work.add_done_callback(self._removing.discard)

    async def _removed(self, pooled: PooledReplica) -> None:
        with suppress(ArenaError):  # starting it again, or the pool's end, removes what is left
            await pooled.vacate()
        self._idle.append(pooled)
        self._stock()

    def _stock(self) -> None:
        if self._is_closed:
            return
        wanted = max(self._held + len(self._waiting), self._ahead) + self._spares
        begun = self._held + len(self._ready) + len(self._working)
        for _ in range(min(wanted - begun, len(self._idle))):
            pooled = self._idle.popleft()
            self._work(_Work(pooled, None), pooled.start)

    def _renewing(
        self,
        pooled: PooledReplica,
        ready: ReadyReplica,
        *,
        wrote: bool,
        start: TakenState | None = None,
    ) -> None:
        self._held -= 1
        making = partial(pooled.renew, ready, wrote=wrote, start=start)
        self._work(_Work(pooled, start), making)

    def _work(self, what: _Work, making: _Making) -> None:
        making_it = self._made(what.pooled, making)
        work = asyncio.create_task(making_it, name=f"replica {what.pooled.label}")
        self._working[work] = what
        work.add_done_callback(lambda done: self._working.pop(done, None))

    async def _made(self, pooled: PooledReplica, making: _Making) -> None:
        try:
            ready = await making()
        except Exception as failure:  # noqa: BLE001  it is raised to whoever waits for the replica
            self._work_is_over()
            self._failed(pooled, failure)
        else:
            self._work_is_over()
            self._offer(pooled, ready)

    def _work_is_over(self) -> None:
        work = asyncio.current_task()
        if work is not None:
            self._working.pop(work, None)

    def _offer(self, pooled: PooledReplica, ready: ReadyReplica) -> None:
        """Hand a ready replica to who waits for it, or keep it ready."""
        self._ready.append((pooled, ready))
        if self._serve():
            self._stock()

    def _failed(self, pooled: PooledReplica, failure: Exception) -> None:
        """Leave a place empty; where no other is on its way, the first in line gets the error."""
        self._idle.append(pooled)
        if self._serve():  # who waited for this one takes another
            self._stock()
        if self._working:
            return
        waiter = next((one for one in self._waiting if not one.promise.done()), None)
        if waiter is not None:
            self._waiting.remove(waiter)
            waiter.promise.set_exception(failure)
            self._stock()  # those behind it may have more luck


class SharedPool:
    """A site without state: one replica for all."""

    def __init__(self, pooled: PooledReplica) -> None:
        self._pooled = pooled
        self._ready: ReadyReplica | None = None
        self._one_at_a_time = asyncio.Lock()
        self._warming: asyncio.Task[ReplicaLease] | None = None

    async def take(self, start: TakenState | None = None) -> ReplicaLease:
        if start is not None:
            raise StateError(f"site '{start.site}' holds no state: no episode can set it up")
        began = time.monotonic()
        async with self._one_at_a_time:
            if self._ready is not None and await self._pooled.spoilt(self._ready):
                self._ready = None
            if self._ready is None:
                self._ready = await self._pooled.start()
            waited = time.monotonic() - began
            return ReplicaLease(pooled=self._pooled, ready=self._ready, waited=waited)

    def foresee(self, upcoming: Upcoming) -> None:
        """Do nothing: it has one state."""

    def warm(self) -> None:
        self._warming = asyncio.create_task(self.take())
        # Whoever takes it next tries again, and gets the error where that fails too.
        self._warming.add_done_callback(lambda work: work.cancelled() or work.exception())

    def put_back(self, leased: ReplicaLease) -> None:
        """Do nothing: it was not taken from anybody."""

    def renew(self, leased: ReplicaLease, *, wrote: bool) -> None:
        """Do nothing: nobody can change it."""

    async def up(self) -> tuple[ReadyReplica | ArenaError, ...]:
        try:
            leased = await self.take()
            await self._pooled.log_everybody_in(leased.ready)
        except ArenaError as failure:
            return (failure,)
        return (leased.ready,)

    def states(self) -> tuple[str, ...]:
        return (self._pooled.state,)

    async def close(self, *, keep: bool) -> None:
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait([self._warming])
        if not keep:
            await self._pooled.vacate()
