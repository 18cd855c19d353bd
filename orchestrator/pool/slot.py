"""What one worker holds for one episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from arena_core.cookie import Cookie
from arena_core.errors import UnknownNameError
from orchestrator.access.apis import ApiAnswer, ask_api
from orchestrator.access.logins import is_logged_out, replica_client, role_of
from orchestrator.access.queries import Row, ask
from orchestrator.pool.replica_pools import ReplicaLease
from orchestrator.reset.replica import Replica

if TYPE_CHECKING:
    from evaluators.changes import Change, IgnoredChanges
    from evaluators.episode_view import Ran
    from evaluators.evidence import Receipt
    from orchestrator.reset.watch import Mark


class Slot:
    """Private replicas of the sites that hold state, shared ones of the others, all golden.

    Attributes:
        index: of the slot in its pool.
    """

    def __init__(self, index: int, leased: Mapping[str, ReplicaLease]) -> None:
        self.index = index
        self._leased = leased
        self._written: set[str] = set()

    @property
    def replicas(self) -> Mapping[str, Replica]:
        """The replicas by site name."""
        return {name: leased.ready.replica for name, leased in self._leased.items()}

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """The proofs that the replicas were golden when this slot was leased."""
        receipts = (leased.receipt for leased in self._leased.values())
        return tuple(receipt for receipt in receipts if receipt is not None)

    @property
    def written(self) -> frozenset[str]:
        """The sites that `wrote` named."""
        return frozenset(self._written)

    def wrote(self, site_name: str) -> None:
        """Say that a request that may write was sent, so that checking is not enough afterwards."""
        self._of(site_name)
        self._written.add(site_name)

    async def cookies(self, site_name: str, role: str) -> tuple[Cookie, ...]:
        """Return the cookies of a role, logged in on this replica and proven just now.

        Raises:
            LoginError: says which step failed.
            UnknownNameError: no such site in this slot, or no such role.
        """
        leased = self._of(site_name)
        return await leased.pooled.cookies(leased.ready, role)

    async def is_logged_out(self, site_name: str, role: str, cookies: Sequence[Cookie]) -> bool:
        """Whether the replica bars the role's page to whoever has these cookies.

        Raises:
            LoginError: the page could not be fetched at all.
            UnknownNameError: no such site in this slot, or no such role.
        """
        replica = self._of(site_name).ready.replica
        account = role_of(replica.site, role)
        client = replica_client(replica.site, replica.endpoint)
        return await is_logged_out(replica.site, role, account, client, cookies)

    async def query(self, site_name: str, sql: str) -> tuple[Row, ...]:
        """Run one read-only statement on the replica's database.

        Raises:
            DatabaseError: the site has no database, or the statement failed or took too long.
            UnknownNameError: no such site in this slot.
        """
        return (await ask(self._of(site_name).ready.replica, sql)).rows

    async def changes(self, site_name: str, ignored: IgnoredChanges) -> tuple[Change, ...]:
        """Return what differs on the replica from the state that it was golden in.

        Raises:
            SiteError: its state could not be read.
            ImageError: its image was sealed without rows.
            UnknownNameError: no such site in this slot.
        """
        leased = self._of(site_name)
        return await leased.pooled.changes(leased.ready, ignored)

    async def run(self, site_name: str, command: str, seconds: int) -> Ran:
        """Run a command on the replica, by its image's own user.

        Raises:
            TaskError: it took longer, printed too much, or would have run as root.
            SiteGoneError: the replica is gone.
            UnknownNameError: no such site in this slot.
        """
        leased = self._of(site_name)
        return await leased.pooled.run(leased.ready, command, seconds)

    async def marks(self) -> Mapping[str, Mark]:
        """Return what moves when the state of a replica does, as it is now, by site.

        Sites without state, and those whose images show no changes, are left out.

        Raises:
            SiteError: a replica does not answer.
        """
        watched = {name: leased.ready.watch for name, leased in self._leased.items()}
        marks = {name: await watch.mark() for name, watch in watched.items() if watch is not None}
        return {name: mark for name, mark in marks.items() if mark is not None}

    async def ask_api(self, site_name: str, role: str, path: str) -> ApiAnswer:
        """Return what the replica's API answers to a GET with a role's API login.

        Raises:
            ApiError: the role has none, or the replica did not answer.
            UnknownNameError: no such site in this slot, or no such role.
        """
        return await ask_api(self._of(site_name).ready.replica, role, path)

    async def lost(self) -> str | None:
        """Say which container is gone, with its state and last log lines; None while all run."""
        for leased in self._leased.values():
            gone = await leased.pooled.lost(leased.ready)
            if gone is not None:
                return gone
        return None

    def _of(self, site_name: str) -> ReplicaLease:
        if site_name not in self._leased:
            held = ", ".join(sorted(self._leased))
            message = f"this slot holds no replica of site '{site_name}'; it holds: {held}"
            raise UnknownNameError(message)
        return self._leased[site_name]
