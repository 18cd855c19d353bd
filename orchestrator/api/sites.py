"""`arena.sites`: start sites, look at them, reset and remove them; build, check and write them."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena_core.errors import SiteGoneError, UsageError
from arena_core.worlds import World
from orchestrator.api.images import SiteImages

if TYPE_CHECKING:
    from orchestrator.api.browsing import Browsing
    from orchestrator.api.starting import RunningSite
    from orchestrator.authoring.site_check.checkup import ContractPoint
    from orchestrator.authoring.site_check.facts import FactsReport
    from orchestrator.sandbox.delta.delta import Delta
    from orchestrator.sandbox.engine.containers import Container
    from orchestrator.sandbox.inventory import ContainerStatus
    from orchestrator.sandbox.reset.database import QueryResult
    from orchestrator.sandbox.reset.replica import Replica
    from orchestrator.sandbox.standing_sites import ResetOutcome
    from sites.manifest import Site

_DEMO: Final = "demo"
_OTHERS_S: Final = 30.0
_ROWS: Final = 200
_CHANGES: Final = 50
_LINES: Final = 100


class Sites(SiteImages):
    """The sites: what `up` starts stays until `down`, also when the Arena is closed."""

    def list(self, names: Sequence[str] = (), *, suite: str | None = None) -> tuple[Site, ...]:
        """Return the manifests of sites.

        Args:
            names: of sites; `all`, or nothing, for every site there is.
            suite: instead of names, those that this suite's tasks play on.

        Raises:
            UsageError: names beside a suite, or beside `all`.
            UnknownNameError: no such site or suite.
        """
        from orchestrator.api.starting import choose_sites

        return choose_sites(self._opened.registry, names, suite, otherwise=None)

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
        from orchestrator.api.starting import Start, choose_sites, start_sites
        from orchestrator.sandbox.memory import parse_size

        start = Start(
            sites=choose_sites(self._opened.registry, names, suite, otherwise=_DEMO),
            slots=slots,
            memory_bytes=None if memory is None else parse_size(memory),
            ports=ports or {},
        )
        return await start_sites(
            await self._opened.engine(), self._opened.registry, start, self._opened.on_event
        )

    async def status(self, names: Sequence[str] = ()) -> tuple[ContainerStatus, ...]:
        """Look at every container of Arena: whose, does it serve, where, how large.

        Args:
            names: only these sites; everything where none is given.

        Raises:
            UnknownNameError: no such site.
        """
        from orchestrator.sandbox.inventory import survey

        registry = self._opened.registry
        return await survey(await self._opened.engine(), registry, names)

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
        from orchestrator.sandbox.command_lock import command_lock
        from orchestrator.sandbox.pool.slot_pool import UP
        from orchestrator.sandbox.standing_sites import ResetRequest, reset_sites, strategies_of

        asked = ResetRequest(names, slot, strategies_of(strategy), look_before=verify)
        opened, registry = self._opened, self._opened.registry
        engine = await opened.engine()
        async with command_lock(UP, opened.note, sites=names):
            outcome = await reset_sites(engine, registry, asked, opened.on_event)
        if check and outcome.failures:
            raise outcome.failures[0]
        return outcome

    async def down(
        self, names: Sequence[str] = (), *, owner: str | None = None, slot: int | None = None
    ) -> tuple[str, ...]:
        """Remove every container that Arena started, also what a dead process left behind.

        Runs that are under way end by that. Images and run folders stay.

        Args:
            names: of sites: only their replicas of `up`, or of `owner`.
            owner: only those of this run, or of `up`.
            slot: only the replicas of this slot of `up`.

        Returns:
            The names of the containers.

        Raises:
            UsageError: a slot of another owner than `up`.
            UnknownNameError: no such site.
        """
        from orchestrator.sandbox.command_lock import command_lock
        from orchestrator.sandbox.inventory import remove_some
        from orchestrator.sandbox.pool.slot_pool import UP

        if slot is not None and owner not in {None, UP}:
            raise UsageError(f"--slot {slot} is one of `arena up`, not of --owner {owner}")
        sites = [site.name for site in self._opened.registry.select(names)] if names else []
        engine, note = await self._opened.engine(), self._opened.note
        async with command_lock(owner or UP, note, sites=sites, wait_s=_OTHERS_S, insist=False):
            if sites or slot is not None:
                return await remove_some(engine, owner or UP, sites, slot)
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
        from orchestrator.sandbox.check_queries import ask, require_one_reading
        from tasks.lint.sql import engine_of

        require_one_reading(sql, engine_of(self._opened.registry.sites.get(site)))
        return await ask(await self._replica(site, slot), sql, limit)

    async def diff(
        self, site: str, *, slot: int = 0, limit: int = _CHANGES, from_golden: bool = False
    ) -> Delta:
        """Return what was changed in a running site since it was golden: rows, files, next ids.

        If it was brought to a saved state since, that is what it is compared with.

        Args:
            site: its name; it must be up.
            slot: of which slot.
            limit: how many rows of each table.
            from_golden: compare with golden, whatever state it was brought to.

        Raises:
            SiteGoneError: the site is not up.
            ImageError: its image was sealed without rows.
            SiteError: its state could not be read.
            StateError: the state that it was brought to is not kept here.
        """
        from orchestrator.sandbox.delta.delta import delta_of
        from orchestrator.sandbox.states.standing_states import restored_state

        engine, replica = await self._opened.engine(), await self._replica(site, slot)
        restored = None if from_golden else await restored_state(replica)
        name, start = restored or (None, None)
        return replace(await delta_of(engine, replica, start=start, limit=limit), start=name)

    async def diff_as_check(self, site: str, *, slot: int = 0) -> dict[str, Any]:
        """Return a check `by: db_delta` that asks for exactly what was changed in a running site.

        What changes by itself stands in its `ignore`: it is seen on a second, fresh replica.

        Args:
            site: its name; it must be up.
            slot: of which slot.

        Raises:
            ArenaError: as `diff`.
        """
        from orchestrator.authoring.site_check.pages import changes_as_check

        opened = self._opened
        return await changes_as_check(await opened.engine(), opened.registry, site, slot)

    async def url(self, site: str, path: str = "/", *, slot: int = 0) -> str:
        """Return the URL of a running site's page for a person's own browser, on 127.0.0.1.

        Args:
            site: its name; it must be up. Or a logical URL, `site:/path`.
            path: of the page on its replica; nothing beside a logical URL.
            slot: of which slot.

        Raises:
            SiteGoneError: the site is not up.
            UnknownNameError: no such site.
        """
        if ":" in site:
            _, _, _, path = self._opened.registry.url(site, World.OFFLINE).split("/", 3)
            site = site.partition(":")[0]
        replica = await self._replica(site, slot)
        return f"http://{replica.endpoint}/{path.removeprefix('/')}"

    async def _replica(self, site: str, slot: int) -> Replica:
        from orchestrator.sandbox.inventory import running_replica

        opened = self._opened
        return await running_replica(await opened.engine(), opened.registry, site, slot)

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
        from orchestrator.sandbox.inventory import running_replicas

        replicas = await running_replicas(
            await self._opened.engine(), self._opened.registry, slot=slot
        )
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
        from orchestrator.sandbox.inventory import containers_of

        found = await containers_of(
            await self._opened.engine(), self._opened.registry.site(site), slot
        )
        if not found:
            where = "" if slot is None else f" in slot {slot}"
            raise SiteGoneError(f"site '{site}' has no container{where}", hint=f"arena up {site}")
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
        return tuple((await (await self._opened.engine()).logs(found.id, tail)).splitlines())

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
        async for line in (await self._opened.engine()).follow_logs(found.id, tail):
            yield line

    def new(
        self, name: str, *, kind: str = "app", title: str | None = None, folder: Path | None = None
    ) -> tuple[Path, ...]:
        """Write the folder of a new site, which keeps the contract at once; return its files.

        Args:
            name: its name, such as `my-shop`.
            kind: `app` (Flask on MariaDB), `php` (PHP and files) or `static` (files alone).
            title: what people call it; from the name where omitted.
            folder: of your own sites; that of ARENA_SITES, else ./arena-sites where omitted.

        Raises:
            UsageError: no such kind, the name is taken or will not do, or nothing can be written.
        """
        from orchestrator.authoring.scaffold.writer import write_site

        return write_site(name, kind, title, folder)

    def published(self, which: str, *, folder: Path | None = None) -> tuple[Path, ...]:
        """Write the manifests of sites whose images others publish; return those files.

        Args:
            which: `webarena` (the original images) or `webarena-verified` (the slim ones).
            folder: of your own sites; that of ARENA_SITES, else ./arena-sites where omitted.

        Raises:
            UsageError: no such set, one of the sites is there already, or nothing can be written.
        """
        from orchestrator.authoring.scaffold.writer import write_published_sites

        return write_published_sites(which, folder)

    async def facts(self, path: Path | None = None) -> FactsReport:
        """Read the facts of a file (Arena's own where omitted) wherever running sites state them.

        Args:
            path: of the file.

        Raises:
            ManifestError, SiteGoneError: it is no file of facts; a site of it is not up.
        """
        from orchestrator.authoring.site_check.facts import facts_of_running_sites

        opened = self._opened
        return await facts_of_running_sites(await opened.engine(), opened.registry, path)

    async def check(self, name: str, *, twice: bool = False) -> tuple[ContractPoint, ...]:
        """Build a site and hold it to the contract that every site of Arena keeps.

        Args:
            name: of the site, your own or one of Arena's.
            twice: bake its data a second time too, and compare.

        Returns:
            Each point of the contract, with what breaks it.

        Raises:
            UnknownNameError: no such site.
            ImageError: its image could not be built or sealed.
            SiteError: its replica does not start.
        """
        from orchestrator.authoring.site_check.checkup import check_site

        opened = self._opened
        site = opened.registry.site(name)
        await self.build([name])
        return await check_site(
            await opened.engine(),
            opened.registry,
            site,
            f"check-{os.getpid()}",
            lambda point: opened.note(f"{'broken' if point.breaches else 'kept':6} {point.title}"),
            on_work=opened.on_event,
            twice=twice,
        )
