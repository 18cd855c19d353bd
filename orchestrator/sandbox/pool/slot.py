"""What one worker holds for one episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from arena_core.cookie import Cookie
from arena_core.errors import UnknownNameError
from arena_core.names import offered
from arena_core.task_group import task_group
from orchestrator.sandbox.check_queries import ApiAnswer, Row, ask, ask_api
from orchestrator.sandbox.logins import is_logged_out, replica_client, role_of
from orchestrator.sandbox.pool.replica_pools import ReplicaLease
from orchestrator.sandbox.reset.replica import Replica

if TYPE_CHECKING:
    from evaluators.changes import Change, IgnoredChanges
    from evaluators.episode_view import Ran
    from evaluators.evidence import Receipt
    from orchestrator.sandbox.reset.state import TakenState
    from orchestrator.sandbox.reset.watch import Mark


class Slot:
    """Private replicas of the sites that hold state, shared ones of the others, all golden.

    Args:
        since: by site, the state that changes are told from, where that is not the one in which its
            replica was leased.
    """

    def __init__(
        self,
        index: int,
        leased: Mapping[str, ReplicaLease],
        since: Mapping[str, TakenState | None] = MappingProxyType({}),
    ) -> None:
        self.index = index
        self._leased = leased
        self._since = since
        self._written: set[str] = set()

    @property
    def replicas(self) -> Mapping[str, Replica]:
        return {name: leased.ready.replica for name, leased in self._leased.items()}

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """The proofs that the replicas were golden when this slot was leased."""
        receipts = (leased.receipt for leased in self._leased.values())
        return tuple(receipt for receipt in receipts if receipt is not None)

    @property
    def began(self) -> Mapping[str, TakenState | None]:
        """By site that holds state, the state that changes are told from; None is golden."""
        return {
            name: self._since.get(name, leased.ready.start)
            for name, leased in self._leased.items()
            if leased.ready.replica.site.stateful
        }

    @property
    def written(self) -> frozenset[str]:
        """The sites that `wrote` named."""
        return frozenset(self._written)

    def wrote(self, site_name: str) -> None:
        """Say that a request that may write was sent, so that checking is not enough afterwards."""
        self._of(site_name)
        self._written.add(site_name)

    async def cookies(self, site_name: str, role: str) -> tuple[Cookie, ...]:
        leased = self._of(site_name)
        return await leased.pooled.cookies(leased.ready, role)

    async def is_logged_out(self, site_name: str, role: str, cookies: Sequence[Cookie]) -> bool:
        """Whether the replica bars the role's page to whoever has these cookies."""
        replica = self._of(site_name).ready.replica
        account = role_of(replica.site, role)
        client = replica_client(replica.site, replica.endpoint)
        return await is_logged_out(replica.site, role, account, client, cookies)

    async def query(self, site_name: str, sql: str) -> tuple[Row, ...]:
        return (await ask(self._of(site_name).ready.replica, sql)).rows

    async def changes(self, site_name: str, ignored: IgnoredChanges) -> tuple[Change, ...]:
        """Return what differs on the replica from the state that the episode began in."""
        leased = self._of(site_name)
        return await leased.pooled.changes(leased.ready, ignored, self.began.get(site_name))

    async def take_state(self, site_name: str) -> TakenState:
        """Take the state that a replica is in now. Raises StateError where that cannot be done."""
        leased = self._of(site_name)
        return await leased.pooled.take_state(leased.ready)

    async def take_states(self) -> Mapping[str, TakenState]:
        """Take the states of all replicas that hold one; errors are those of `take_state`."""
        async with task_group() as group:
            works = {name: group.create_task(self.take_state(name)) for name in self.began}
        return {name: work.result() for name, work in works.items()}

    async def run(self, site_name: str, command: str, seconds: int) -> Ran:
        leased = self._of(site_name)
        return await leased.pooled.run(leased.ready, command, seconds)

    async def marks(self) -> Mapping[str, Mark]:
        """Return what moves when the state of a replica does, as it is now, by site.

        Sites without state, and those whose images show no changes, are left out.
        """
        watched = {name: leased.ready.watch for name, leased in self._leased.items()}
        marks = {name: await watch.mark() for name, watch in watched.items() if watch is not None}
        return {name: mark for name, mark in marks.items() if mark is not None}

    async def ask_api(self, site_name: str, role: str, path: str) -> ApiAnswer:
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
            held = offered(site_name, self._leased, intro="it holds")
            raise UnknownNameError(f"this slot holds no replica of site '{site_name}'; {held}")
        return self._leased[site_name]
