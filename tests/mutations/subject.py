"""The running replica that a mutation changes, and the ways in: superuser's SQL, shell, HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from mutations.visitor import Visitor, visit

from arena_core.cookie import Cookie
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.logins import login, replica_client, role_of
from orchestrator.sandbox.reset.replica import Replica
from sites.manifest import ServerDatabase

Result = TypeVar("Result")

# How the superuser gets in: by the socket that the options name, without a password.
_CLIENTS: Final = {
    "shop": ("mariadb", "--defaults-file=/srv/shop/my.cnf", "--user=arena"),
    "forum": ("mariadb", "--defaults-file=/srv/forum/my.cnf", "--user=arena"),
    "cms": ("mariadb", "--defaults-file=/srv/cms/my.cnf", "--user=arena"),
    "forge": ("mariadb", "--defaults-file=/srv/forge/my.cnf", "--user=arena"),
    "kiosk": ("mariadb", "--defaults-file=/srv/kiosk/my.cnf", "--user=root"),
}
_PLAIN: Final = ("--batch", "--skip-column-names", "--raw")


@dataclass(slots=True)
class Accounts:
    """Cookies of roles, kept: the shop's sessions are signed by a key that all its replicas share.

    So a visitor of the next replica is logged in without asking it.
    """

    _known: dict[tuple[str, str], tuple[Cookie, ...]] = field(default_factory=dict)

    async def cookies(self, replica: Replica, role_name: str) -> tuple[Cookie, ...]:
        """Return a role's cookies, logged in on this replica where they are not known yet."""
        site = replica.site
        known = self._known.get((site.name, role_name))
        if known is None:
            role, client = role_of(site, role_name), replica_client(site, replica.endpoint)
            known = await login(site, role_name, role, client)
            self._known[site.name, role_name] = known
        return known


@dataclass(frozen=True, slots=True)
class Subject:
    """A replica, and what it takes to change it."""

    engine: Engine
    replica: Replica
    accounts: Accounts

    @property
    def site(self) -> str:
        """The site's name."""
        return self.replica.site.name

    @property
    def folder(self) -> str:
        """The folder whose files are state."""
        return self.replica.site.fingerprint.files[0]

    async def sql(self, *statements: str) -> tuple[str, ...]:
        """Run statements in one session of the superuser; return the printed lines.

        Every value of a row is parted from the next by a tab.
        """
        database = self.replica.site.database
        assert isinstance(database, ServerDatabase)
        script = "; ".join(statements)
        argv = (*_CLIENTS[self.site], *_PLAIN, database.name, "--execute", script)
        return tuple((await self._run(argv)).splitlines())

    async def value(self, *statements: str) -> str:
        """Return the last line that the statements print."""
        return (await self.sql(*statements))[-1]

    async def shell(self, script: str, *arguments: str) -> str:
        """Run a script of `sh`, which sees the arguments as $1, $2, …; return what it prints."""
        return await self._run(("sh", "-euc", script, "sh", *arguments))

    async def http(self, role: str | None, work: Callable[[Visitor], Result]) -> Result:
        """Do something on the site's pages as a role, or as nobody; in a thread."""
        cookies = await self.accounts.cookies(self.replica, role) if role else ()
        client = replica_client(self.replica.site, self.replica.endpoint)

        def visited() -> Result:
            with visit(client, cookies) as visitor:
                return work(visitor)

        return await asyncio.to_thread(visited)

    async def _run(self, argv: tuple[str, ...]) -> str:
        done = await self.engine.execute(self.replica.container.id, argv)
        complaint = done.stderr.decode(errors="replace")
        assert done.exit_code == 0, f"{argv[-1][:200]}: {complaint[-400:]}"
        return done.stdout.decode(errors="replace")
