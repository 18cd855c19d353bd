"""What one worker holds for one episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from orchestrator.cookie import Cookie
from orchestrator.fleet.queries import Row, ask
from orchestrator.fleet.seat import Occupant, Seat
from orchestrator.reset.replica import Replica
from sites.errors import UnknownNameError

if TYPE_CHECKING:
    from evaluators.evidence import Receipt


class Slot:
    """Private replicas of the sites that hold state, shared ones of the others, all golden.

    Attributes:
        index: of the slot in its fleet.
    """

    def __init__(self, index: int, seats: Mapping[str, tuple[Seat, Occupant]]) -> None:
        self.index = index
        self._seats = seats
        self._written: set[str] = set()

    @property
    def replicas(self) -> Mapping[str, Replica]:
        """The replicas by site name."""
        return {name: occupant.replica for name, (_, occupant) in self._seats.items()}

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """The proofs that the replicas were golden when this slot was leased."""
        return tuple(
            occupant.receipt for _, occupant in self._seats.values() if occupant.receipt is not None
        )

    @property
    def written(self) -> frozenset[str]:
        """The sites that `wrote` named."""
        return frozenset(self._written)

    def wrote(self, site_name: str) -> None:
        """Say that a request that may write was sent, so that checking is not enough afterwards."""
        self._seat(site_name)
        self._written.add(site_name)

    async def cookies(self, site_name: str, role: str) -> tuple[Cookie, ...]:
        """Return the cookies of a role, logged in on this replica and proven just now.

        Raises:
            LoginError: says which step failed.
            UnknownNameError: no such site in this slot, or no such role.
        """
        seat, occupant = self._seat(site_name)
        return await seat.cookies(occupant, role)

    async def query(self, site_name: str, sql: str) -> tuple[Row, ...]:
        """Run one read-only statement on the replica's database.

        Raises:
            DatabaseError: the site has no database, or the statement failed or took too long.
            UnknownNameError: no such site in this slot.
        """
        _, occupant = self._seat(site_name)
        return (await ask(occupant.replica, sql)).rows

    async def lost(self) -> str | None:
        """Say which container is gone, with its state and last log lines; None while all run."""
        for seat, occupant in self._seats.values():
            gone = await seat.lost(occupant)
            if gone is not None:
                return gone
        return None

    def _seat(self, site_name: str) -> tuple[Seat, Occupant]:
        if site_name not in self._seats:
            held = ", ".join(sorted(self._seats))
            message = f"this slot holds no replica of site '{site_name}'; it holds: {held}"
            raise UnknownNameError(message)
        return self._seats[site_name]
