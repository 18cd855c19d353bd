"""The seats of one site: ready ones are handed out at once, used ones are renewed behind that."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from orchestrator.fleet.plans import Occupant
from orchestrator.fleet.seat import Seat
from orchestrator.together import together
from sites.errors import ArenaError

if TYPE_CHECKING:
    from evaluators.evidence import Receipt

_Making = Callable[[], Coroutine[object, object, Occupant]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A seat as an episode holds it.

    Attributes:
        waited: seconds until it was ready.
        swapped: it was ready at once, and is another one than the last that was given back.
    """

    seat: Seat
    occupant: Occupant
    waited: float = 0.0
    swapped: bool = False

    @property
    def receipt(self) -> Receipt | None:
        """The proof that it is golden, and how the episode came to it."""
        receipt = self.occupant.receipt
        if receipt is None:
            return None
        return receipt.model_copy(update={"swapped": self.swapped, "waited": round(self.waited, 3)})


async def all_of(works: Iterable[Coroutine[object, object, None]]) -> None:
    """Do everything, whatever fails of it; raise the first failure when all is done."""
    outcomes = await asyncio.gather(*works, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome


class Seats(Protocol):
    """All replicas of one site in a fleet."""

    async def take(self) -> Taken:
        """Wait for a golden replica.

        Raises:
            ArenaError: none could be made ready; the next call tries again.
        """

    def warm(self) -> None:
        """Start what will be needed before anybody asks, in the background."""

    def put_back(self, taken: Taken) -> None:
        """Give one back that nobody touched."""

    def renew(self, taken: Taken, *, wrote: bool) -> None:
        """Give a used one back; it is brought to golden in the background."""

    async def up(self) -> tuple[Occupant | ArenaError, ...]:
        """Start every replica and log every role in; failures are returned, the others go on."""

    def states(self) -> tuple[str, ...]:
        """Say what each seat does now."""

    async def close(self, *, keep: bool) -> None:
        """Cut short what is under way; remove the replicas unless they are to stay."""


class PrivateSeats:
    """A site that holds state: each episode has a replica of its own.

    As many are started as are held or waited for, and the spares beyond; after `warm` as many as
    there are workers, at least.
    """

    def __init__(self, seats: Sequence[Seat], spares: int) -> None:
        self._seats = tuple(seats)
        self._spares = spares
        self._idle = deque(seats)
        self._ready: deque[tuple[Seat, Occupant]] = deque()
        self._working: dict[asyncio.Task[None], Seat] = {}
        self._waiting: deque[asyncio.Future[tuple[Seat, Occupant]]] = deque()
        self._held = 0
        self._ahead = 0
        self._used_last: Seat | None = None
        self._is_closed = False

    async def take(self) -> Taken:
        """Take the seat that is ready longest, or wait in line for the next."""
        began = time.monotonic()
        at_once = bool(self._ready) and not self._waiting
        while True:
            seat, occupant = await self._next()
            try:
                spoilt = await seat.spoilt(occupant)
            except BaseException:
                self._renewing(seat, occupant, wrote=True)
                raise
            if spoilt is None:
                break
            at_once = False
            self._renewing(seat, occupant, wrote=True)
        return Taken(
            seat=seat,
            occupant=occupant,
            waited=time.monotonic() - began,
            swapped=at_once and self._used_last not in {None, seat},
        )

    def warm(self) -> None:
        """Start them all, in the background."""
        self._ahead = len(self._seats) - self._spares
        self._stock()

    def put_back(self, taken: Taken) -> None:
        """Offer it to the next in line as it is."""
        self._held -= 1
        self._offer(taken.seat, taken.occupant)

    def renew(self, taken: Taken, *, wrote: bool) -> None:
        """Bring it back to golden behind the episodes."""
        self._used_last = taken.seat
        self._renewing(taken.seat, taken.occupant, wrote=wrote)

    async def up(self) -> tuple[Occupant | ArenaError, ...]:
        """Start all that are idle, and log every role in on each."""

        async def one(seat: Seat) -> Occupant | ArenaError:
            try:
                occupant = await seat.start()
            except ArenaError as failure:
                self._idle.append(seat)
                return failure
            self._offer(seat, occupant)
            try:
                await seat.log_everybody_in(occupant)
            except ArenaError as failure:
                return failure
            return occupant

        idle = tuple(self._idle)
        self._idle.clear()
        async with together() as group:
            works = [group.create_task(one(seat)) for seat in idle]
        return tuple(work.result() for work in works)

    def states(self) -> tuple[str, ...]:
        """Say what each seat does now."""
        resting = {*self._idle, *(seat for seat, _ in self._ready), *self._working.values()}
        return tuple(
            seat.state if seat in resting else f"{seat.label} held by an episode"
            for seat in self._seats
        )

    async def close(self, *, keep: bool) -> None:
        """Cut short what is under way; remove the replicas unless they are to stay."""
        self._is_closed = True
        works = tuple(self._working)
        for work in works:
            work.cancel()
        if works:
            await asyncio.wait(works)
        if not keep:
            await all_of(seat.vacate() for seat in self._seats)

    async def _next(self) -> tuple[Seat, Occupant]:
        """Return a ready seat, first come first served; it counts as held."""
        if self._ready and not self._waiting:
            first = self._ready.popleft()
            self._held += 1
            self._stock()
            return first
        promise: asyncio.Future[tuple[Seat, Occupant]] = asyncio.get_running_loop().create_future()
        self._waiting.append(promise)
        self._stock()
        try:
            return await promise
        except asyncio.CancelledError:
            if promise.done() and not promise.cancelled() and promise.exception() is None:
                self._held -= 1
                self._offer(*promise.result())
            elif promise in self._waiting:
                self._waiting.remove(promise)
            raise

    def _stock(self) -> None:
        """Start what is wanted and not there yet."""
        if self._is_closed:
            return
        wanted = max(self._held + len(self._waiting), self._ahead) + self._spares
        begun = self._held + len(self._ready) + len(self._working)
        for _ in range(min(wanted - begun, len(self._idle))):
            seat = self._idle.popleft()
            self._work(seat, seat.start)

    def _renewing(self, seat: Seat, occupant: Occupant, *, wrote: bool) -> None:
        self._held -= 1
        self._work(seat, partial(seat.renew, occupant, wrote=wrote))

    def _work(self, seat: Seat, making: _Making) -> None:
        work = asyncio.create_task(self._made(seat, making), name=f"seat {seat.label}")
        self._working[work] = seat
        work.add_done_callback(lambda done: self._working.pop(done, None))

    async def _made(self, seat: Seat, making: _Making) -> None:
        try:
            occupant = await making()
        except Exception as failure:  # noqa: BLE001  it is raised to whoever waits for the seat
            self._work_is_over()
            self._failed(seat, failure)
        else:
            self._work_is_over()
            self._offer(seat, occupant)

    def _work_is_over(self) -> None:
        work = asyncio.current_task()
        if work is not None:
            self._working.pop(work, None)

    def _offer(self, seat: Seat, occupant: Occupant) -> None:
        """Hand a ready seat to the first in line, or keep it ready."""
        promise = self._first_in_line()
        if promise is None:
            self._ready.append((seat, occupant))
            return
        self._held += 1
        promise.set_result((seat, occupant))
        self._stock()

    def _failed(self, seat: Seat, failure: Exception) -> None:
        """Leave a seat empty; where no other is on its way, the first in line hears why."""
        self._idle.append(seat)
        if self._working:
            return
        promise = self._first_in_line()
        if promise is not None:
            promise.set_exception(failure)
            self._stock()  # those behind it may have more luck

    def _first_in_line(self) -> asyncio.Future[tuple[Seat, Occupant]] | None:
        while self._waiting:
            promise = self._waiting.popleft()
            if not promise.done():
                return promise
        return None
