"""Logins at live origins, proven once per run and again before each episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from arena_core.cookie import Cookie
from arena_core.errors import LoginError
from orchestrator.access.logins import is_logged_in, is_logged_out, live_role_of, login
from orchestrator.access.origin_client import OriginClient
from orchestrator.engine.endpoints import Endpoint
from orchestrator.episode.environment import Accounts
from orchestrator.gateway.addresses import Resolve
from sites.atlas import Atlas
from sites.manifest import Live


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveAccounts:
    """Roles logged in at live origins.

    Attributes:
        ca_file: the authority of staged origins; None on the real web.
        replicas: answers for sites that have no live origin.
        jars: the logins made so far, by site and role.
    """

    atlas: Atlas
    resolves: Sequence[Resolve] = ()
    ca_file: str | None = None
    replicas: Accounts | None = None
    jars: dict[tuple[str, str], tuple[Cookie, ...]] = field(default_factory=dict)

    async def cookies(self, site: str, role: str) -> tuple[Cookie, ...]:
        """Return the proven login of a role.

        Raises:
            LoginError: it cannot log in there, or is not recognised afterwards.
        """
        manifest = self.atlas.site(site)
        if manifest.live is None:
            if self.replicas is None:
                message = f"site '{site}' has neither a live origin nor a replica to log in at"
                raise LoginError(message)
            return await self.replicas.cookies(site, role)
        client, account = self._client(manifest.live), live_role_of(manifest, role)
        known = self.jars.get((site, role))
        if known is None or not await is_logged_in(manifest, role, account, client, known):
            known = await login(manifest, role, account, client)
            self.jars[site, role] = known
        return known

    async def is_logged_out(self, site: str, role: str, cookies: Sequence[Cookie]) -> bool:
        """Whether the site bars the role's page to whoever has these cookies.

        A live page that cannot be fetched just now says nothing.
        """
        manifest = self.atlas.site(site)
        if manifest.live is None:
            return self.replicas is not None and await self.replicas.is_logged_out(
                site, role, cookies
            )
        account, client = live_role_of(manifest, role), self._client(manifest.live)
        try:
            return await is_logged_out(manifest, role, account, client, cookies)
        except LoginError:
            return False

    def _client(self, live: Live) -> OriginClient:
        elsewhere = next(
            (one.to for one in self.resolves if (one.host, one.port) == (live.host, live.port)),
            None,
        )
        address = Endpoint(elsewhere.host, elsewhere.port) if elsewhere else None
        return OriginClient(origin=live.origin, address=address, ca_file=self.ca_file)
