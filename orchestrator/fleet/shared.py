"""The one replica of a site without state, shared by all slots."""

from __future__ import annotations

import asyncio
import time

from orchestrator.fleet.plans import Occupant
from orchestrator.fleet.seat import Seat
from orchestrator.fleet.seats import Taken
from sites.errors import ArenaError


class SharedSeat:
    """A site without state: one replica for all."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._occupant: Occupant | None = None
        self._one_at_a_time = asyncio.Lock()
        self._warming: asyncio.Task[Taken] | None = None

    async def take(self) -> Taken:
        """Return the replica, started or replaced where that is needed."""
        began = time.monotonic()
        async with self._one_at_a_time:
            if self._occupant is not None and await self._seat.spoilt(self._occupant):
                self._occupant = None
            if self._occupant is None:
                self._occupant = await self._seat.start()
            waited = time.monotonic() - began
            return Taken(seat=self._seat, occupant=self._occupant, waited=waited)

    def warm(self) -> None:
        """Start it in the background; who takes it next waits for that."""
        self._warming = asyncio.create_task(self.take())
        # Whoever takes it next tries again, and hears why where that fails too.
        self._warming.add_done_callback(lambda work: work.cancelled() or work.exception())

    def put_back(self, taken: Taken) -> None:
        """Do nothing: it was not taken from anybody."""

    def renew(self, taken: Taken, *, wrote: bool) -> None:
        """Do nothing: nobody can change it."""

    async def up(self) -> tuple[Occupant | ArenaError, ...]:
        """Start it and log every role in."""
        try:
            taken = await self.take()
            await self._seat.log_everybody_in(taken.occupant)
        except ArenaError as failure:
            return (failure,)
        return (taken.occupant,)

    def states(self) -> tuple[str, ...]:
        """Say what it does now."""
        return (self._seat.state,)

    async def close(self, *, keep: bool) -> None:
        """Remove the replica unless it is to stay."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait([self._warming])
        if not keep:
            await self._seat.vacate()
