"""Logins at live and staged origins, proven once per worker and again before each episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from arena_core.cookie import Cookie
from arena_core.errors import LoginError
from orchestrator.access.logins import is_logged_in, is_logged_out, login, role_at
from orchestrator.engine.containers import Endpoint
from orchestrator.engine.origin_client import OriginClient
from orchestrator.gateway.addresses import Resolve
from sites.upstreams import LiveUpstream, OriginUpstream, StagedUpstream


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginLogins:
    """Roles logged in at live and staged origins.

    Attributes:
        resolves: where connections to their hosts go instead.
        ca_file: the authority of staged origins; None where none is staged.
        jars: the logins made so far, by site and role.
    """

    resolves: Sequence[Resolve] = ()
    ca_file: str | None = None
    jars: dict[tuple[str, str], tuple[Cookie, ...]] = field(default_factory=dict)

    def fresh(self) -> OriginLogins:
        """Return the same without a login made yet: a sign-out there ends none here."""
        return replace(self, jars={})

    async def cookies(self, upstream: OriginUpstream, role: str) -> tuple[Cookie, ...]:
        """Return the proven login of a role.

        Raises:
            LoginError: it cannot log in there, or is not recognised afterwards.
            UnknownNameError: no such role there.
        """
        site, client, account = upstream.site, self._client(upstream), role_at(upstream, role)
        known = self.jars.get((site.name, role))
        if known is None or not await is_logged_in(site, role, account, client, known):
            known = await login(site, role, account, client)
            self.jars[site.name, role] = known
        return known

    async def is_logged_out(
        self, upstream: OriginUpstream, role: str, cookies: Sequence[Cookie]
    ) -> bool:
        """Whether the origin bars the role's page to whoever has these cookies.

        A page that cannot be fetched just now says nothing.

        Raises:
            UnknownNameError: no such role there.
        """
        account, client = role_at(upstream, role), self._client(upstream)
        try:
            return await is_logged_out(upstream.site, role, account, client, cookies)
        except LoginError:
            return False

    def _client(self, upstream: OriginUpstream) -> OriginClient:
        live = upstream.live
        elsewhere = next(
            (one.to for one in self.resolves if (one.host, one.port) == (live.host, live.port)),
            None,
        )
        address = Endpoint(elsewhere.host, elsewhere.port) if elsewhere else None
        match upstream:
            case LiveUpstream():
                return OriginClient(origin=upstream.origin, address=address)
            case StagedUpstream():
                return OriginClient(origin=upstream.origin, address=address, ca_file=self.ca_file)
            case _:
                assert_never(upstream)
