"""The part of `Arena` about sites: start them, look at them, ask them, reset and remove them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from arena_core.errors import SiteGoneError, UsageError
from orchestrator.api.opened import OpenArena
from orchestrator.api.suites import DEMO

if TYPE_CHECKING:
    from orchestrator.api.browsing import Browsing
    from orchestrator.api.resetting import ResetOutcome
    from orchestrator.api.starting import RunningSite
    from orchestrator.delta.as_check import Document
    from orchestrator.delta.delta import Delta
    from orchestrator.engine.containers import Container
    from orchestrator.operations.inventory import ContainerStatus
    from orchestrator.reset.query_result import QueryResult
    from sites.manifest import Site

_OTHERS_S: Final = 30.0
_ROWS: Final = 200
_CHANGES: Final = 50
_LINES: Final = 100


class SiteOperations(OpenArena):
    """Starts, looks at, resets and removes the replicas that stay until `down`."""

    def sites(self, names: Sequence[str] = (), *, suite: str | None = None) -> tuple[Site, ...]:
        """Return the manifests of sites.

        Args:
            names: of sites; `all`, or nothing, for every site there is.
            suite: instead of names, those that this suite's tasks play on.

        Raises:
            UsageError: names beside a suite, or beside `all`.
            UnknownNameError: no such site or suite.
        """
        from orchestrator.api.site_selection import choose_sites

        return choose_sites(self.atlas, names, suite, otherwise=None)

    async def up(
        self,
        names: Sequence[str] = (),
        *,
        suite: str | None = None,
        slots: int = 1,
        ports: Mapping[str, int] | None = None,
        memory: str | None = None,
    ) -> tuple[RunningSite, ...]:
        """Start sites side by side, wait until they really serve, and log every role in.

        Sites that run already are kept as they are; images that are missing are built first. The
        containers stay, also when this Arena is closed, until `down`.

        Args:
            names: of sites, or `all`; those of the suite where none is given.
            suite: the sites that this suite's tasks play on; `demo` where omitted.
            slots: replicas of each site that holds state; sites without state are shared.
            ports: fixed ports on 127.0.0.1 by site; further slots get those after it.
            memory: refuse what would need more, such as `4GiB`.

        Raises:
            UsageError: arguments contradict each other, or do not fit the memory.
            UnknownNameError: no such site or suite.
            ImageError: an image could not be built.
            SiteError: a site does not serve, or a role cannot log in; what serves stays.
        """
        from orchestrator.api.site_selection import choose_sites
        from orchestrator.api.starting import Start, start_sites
        from orchestrator.capacity.sizes import parse_size

        start = Start(
            sites=choose_sites(self.atlas, names, suite, otherwise=DEMO),
            slots=slots,
            memory_bytes=None if memory is None else parse_size(memory),
            ports=ports or {},
        )
        return await start_sites(await self._engine(), self.atlas, start, self._on_event)

    async def status(self, names: Sequence[str] = ()) -> tuple[ContainerStatus, ...]:
        """Look at every container of Arena: whose, does it serve, where, how large.

        Args:
            names: only these sites; everything where none is given.

        Raises:
            UnknownNameError: no such site.
        """
        from orchestrator.operations.inventory import survey

        atlas = self.atlas
        return await survey(await self._engine(), atlas, names)

    async def reset(
        self,
        names: Sequence[str] = (),
        *,
        slot: int | None = None,
        strategy: str = "auto",
        verify: bool = False,
        check: bool = True,
    ) -> ResetOutcome:
        """Bring running sites back to golden, each with a receipt that proves it.

        A replica that cannot be brought there is removed; the others go on.

        Args:
            names: of sites; all that are up where none is given.
            slot: only this one; every one where omitted.
            strategy: `auto`, `clean`, `rewind` or `recreate`.
            verify: look first what differs from golden, row by row.
            check: raise the first failure when all are done; otherwise the outcome has them.

        Raises:
            UsageError: no such strategy.
            SiteGoneError: a named site is not up.
            ArenaError: with `check`, a replica could not be brought back.
        """
        from orchestrator.api.resetting import ResetRequest, reset_sites, rungs_of
        from orchestrator.operations.command_lock import command_lock
        from orchestrator.pool.slot_pool import UP

        asked = ResetRequest(names, slot, rungs_of(strategy), look_before=verify)
        atlas = self.atlas
        engine = await self._engine()
        async with command_lock(UP, self._note):
            outcome = await reset_sites(engine, atlas, asked, self._on_event)
        if check and outcome.failures:
            raise outcome.failures[0]
        return outcome

    async def down(self, *, owner: str | None = None, slot: int | None = None) -> tuple[str, ...]:
        """Remove every container that Arena started, also what a dead process left behind.

        Runs that are under way end by that. Images and run folders stay.

        Args:
            owner: only those of this run, or of `up`.
            slot: only the replicas of this slot of `up`.

        Returns:
            The names of the containers.

        Raises:
            UsageError: a slot of another owner than `up`.
        """
        from orchestrator.operations.command_lock import command_lock
        from orchestrator.operations.inventory import remove_slot
        from orchestrator.pool.slot_pool import UP

        if slot is not None and owner not in {None, UP}:
            message = f"--slot {slot} is one of `arena up`, not of --owner {owner}"
            raise UsageError(message)
        engine = await self._engine()
        async with command_lock(owner or UP, self._note, wait_s=_OTHERS_S, insist=False):
            if slot is not None:
                return await remove_slot(engine, slot)
            return await engine.sweep(owner)

    async def query(self, site: str, sql: str, *, slot: int = 0, limit: int = _ROWS) -> QueryResult:
        """Run one SELECT or SHOW on a running site's database, as checks do: reading only.

        Args:
            site: its name; it must be up.
            sql: one statement.
            slot: of which slot.
            limit: how many rows to read at most.

        Raises:
            DatabaseError: no database, or not one reading statement, or it failed.
            SiteGoneError: the site is not up.
        """
        from orchestrator.access.queries import ask, require_one_reading
        from orchestrator.operations.inventory import running_replica
        from tasks.sql import engine_of

        atlas = self.atlas
        require_one_reading(sql, engine_of(atlas.sites.get(site)))
        replica = await running_replica(await self._engine(), atlas, site, slot)
        return await ask(replica, sql, limit)

    async def diff(self, site: str, *, slot: int = 0, limit: int = _CHANGES) -> Delta:
        """Return what was changed in a running site since it was golden: rows, files, next ids.

        Args:
            site: its name; it must be up.
            slot: of which slot.
            limit: how many rows of each table.

        Raises:
            SiteGoneError: the site is not up.
            ImageError: its image was sealed without rows.
            SiteError: its state could not be read.
        """
        from orchestrator.delta.delta import delta_of
        from orchestrator.operations.inventory import running_replica

        engine = await self._engine()
        replica = await running_replica(engine, self.atlas, site, slot)
        return await delta_of(engine, replica, limit=limit)

    async def diff_as_check(self, site: str, *, slot: int = 0) -> Document:
        """Return a check `by: db_delta` that asks for exactly what was changed in a running site.

        What changes by itself stands in its `ignore`: it is seen on a second, fresh replica.

        Args:
            site: its name; it must be up.
            slot: of which slot.

        Raises:
            ArenaError: as `diff`.
        """
        from orchestrator.api.changes import changes_as_check

        return await changes_as_check(await self._engine(), self.atlas, site, slot)

    async def url(self, site: str, path: str = "/", *, slot: int = 0) -> str:
        """Return the URL of a running site's page for a person's own browser, on 127.0.0.1.

        Args:
            site: its name; it must be up.
            path: of the page.
            slot: of which slot.

        Raises:
            SiteGoneError: the site is not up.
        """
        from orchestrator.operations.inventory import running_replica

        replica = await running_replica(await self._engine(), self.atlas, site, slot)
        return f"http://{replica.endpoint}/{path.removeprefix('/')}"

    @asynccontextmanager
    async def browse(self, *, slot: int = 0, port: int = 0) -> AsyncIterator[Browsing]:
        """Serve a proxy, until the block ends, in which each running site has its own name.

        Args:
            slot: of which slot.
            port: of the proxy on 127.0.0.1; 0 for a free one.

        Raises:
            SiteGoneError: no site is up.
            PortTakenError: the port is in use.
        """
        from orchestrator.api.browsing import browsing
        from orchestrator.operations.inventory import running_replicas

        replicas = await running_replicas(await self._engine(), self.atlas, slot=slot)
        async with browsing(replicas, slot, port) as found:
            yield found

    async def container(self, site: str, *, slot: int | None = None) -> Container:
        """Return a site's container: that of `up`, else any other; also one that has exited.

        Args:
            site: its name.
            slot: of which slot of `up`; any container of the site where omitted.

        Raises:
            SiteGoneError: there is none.
        """
        from orchestrator.operations.inventory import containers_of

        found = await containers_of(await self._engine(), self.atlas.site(site), slot)
        if not found:
            where = "" if slot is None else f" in slot {slot}"
            message = f"site '{site}' has no container{where}"
            raise SiteGoneError(message, hint=f"arena up {site}")
        return found[0]

    async def logs(
        self, site: str, *, slot: int | None = None, tail: int = _LINES
    ) -> tuple[str, ...]:
        """Return the last lines that a site's container wrote.

        Args:
            site: its name.
            slot: of which slot of `up`; any container of the site where omitted.
            tail: how many last lines there are at most.

        Raises:
            SiteGoneError: it has no container.
        """
        found = await self.container(site, slot=slot)
        return tuple((await (await self._engine()).logs(found.id, tail)).splitlines())

    async def follow_logs(
        self, site: str, *, slot: int | None = None, tail: int = _LINES
    ) -> AsyncGenerator[str, None]:
        """Yield what a site's container wrote and writes, line by line, until it ends.

        Args:
            site: its name.
            slot: of which slot of `up`; any container of the site where omitted.
            tail: how many last lines to begin with.

        Raises:
            SiteGoneError: it has no container.
        """
        found = await self.container(site, slot=slot)
        async for line in (await self._engine()).follow_logs(found.id, tail):
            yield line
