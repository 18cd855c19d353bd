"""What an episode asks of its sites beside the browser: each question goes to the upstream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from arena_core.cookie import Cookie
from arena_core.errors import ApiError, DatabaseError, SiteError
from evaluators.changes import Change, IgnoredChanges
from evaluators.episode_view import Ran
from orchestrator.access.apis import ApiAnswer
from orchestrator.access.queries import Row
from orchestrator.pool.slot import Slot
from orchestrator.reset.watch import Mark
from orchestrator.runner.accounts import OriginLogins
from sites.capabilities import api_login_fault, changes_fault, shell_fault, sql_fault
from sites.upstreams import LiveUpstream, ReplicaUpstream, StagedUpstream, Upstreams

_HINT = "limit the check to the `worlds` where the site is a replica"


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteAccess:
    """Accounts, databases and APIs of the sites of one episode.

    What an upstream cannot answer is refused in the words of the linter.

    Attributes:
        slot: has a replica of each site that one answers for.
        logins: at live and staged origins.
    """

    upstreams: Upstreams
    slot: Slot
    logins: OriginLogins

    async def cookies(self, site: str, role: str) -> tuple[Cookie, ...]:
        """Return the proven login of a role.

        Raises:
            LoginError: it cannot log in there, or is not recognised afterwards.
            UnknownNameError: no such site in the episode, or no such role there.
        """
        upstream = self.upstreams.of(site)
        match upstream:
            case ReplicaUpstream():
                return await self.slot.cookies(site, role)
            case LiveUpstream() | StagedUpstream():
                return await self.logins.cookies(upstream, role)
            case _:
                assert_never(upstream)

    async def is_logged_out(self, site: str, role: str, cookies: Sequence[Cookie]) -> bool:
        """Whether the site bars the role's page to whoever has these cookies.

        Raises:
            LoginError: a replica's page could not be fetched at all.
            UnknownNameError: no such site in the episode, or no such role there.
        """
        upstream = self.upstreams.of(site)
        match upstream:
            case ReplicaUpstream():
                return await self.slot.is_logged_out(site, role, cookies)
            case LiveUpstream() | StagedUpstream():
                return await self.logins.is_logged_out(upstream, role, cookies)
            case _:
                assert_never(upstream)

    async def query(self, site: str, sql: str) -> tuple[Row, ...]:
        """Run one read-only statement on the database behind a site.

        Raises:
            DatabaseError: there is none, or the statement failed or took too long.
            UnknownNameError: no such site in the episode.
        """
        fault = sql_fault(self.upstreams.of(site))
        if fault is not None:
            raise DatabaseError(fault, hint=_HINT)
        return await self.slot.query(site, sql)

    async def changes(self, site: str, ignored: IgnoredChanges) -> tuple[Change, ...]:
        """Return what differs behind a site from the state that it was golden in.

        Raises:
            DatabaseError: nothing shows them.
            SiteError: the state could not be read.
            ImageError: the image was sealed without rows.
            UnknownNameError: no such site in the episode.
        """
        fault = changes_fault(self.upstreams.of(site))
        if fault is not None:
            raise DatabaseError(fault, hint=_HINT)
        return await self.slot.changes(site, ignored)

    async def run(self, site: str, command: str, seconds: int) -> Ran:
        """Run a command in the replica of a site.

        Raises:
            SiteError: no replica answers for the site.
            TaskError: it took longer, printed too much, or would have run as root.
            UnknownNameError: no such site in the episode.
        """
        fault = shell_fault(self.upstreams.of(site))
        if fault is not None:
            raise SiteError(fault, hint=_HINT)
        return await self.slot.run(site, command, seconds)

    async def marks(self) -> Mapping[str, Mark]:
        """Return what moves when the state of a replica does, as it is now, by site.

        Raises:
            SiteError: a replica does not answer.
        """
        return await self.slot.marks()

    async def ask_api(self, site: str, role: str, path: str) -> ApiAnswer:
        """Return what a site's API answers to a GET with a role's API login.

        Raises:
            ApiError: the role has none, or nothing answered.
            UnknownNameError: no such site in the episode.
        """
        fault = api_login_fault(self.upstreams.of(site), role)
        if fault is not None:
            raise ApiError(fault, hint=_HINT)
        return await self.slot.ask_api(site, role, path)
