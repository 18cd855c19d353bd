"""What can be asked of an upstream beyond its pages; linter and episode give the same answer."""

from __future__ import annotations

from typing import assert_never

from sites.manifest import Site
from sites.upstreams import LiveUpstream, ReplicaUpstream, StagedUpstream, Upstream


def sql_fault(upstream: Upstream) -> str | None:
    """Say why no SQL can be asked of an upstream; None where it can."""
    match upstream:
        case ReplicaUpstream(site=site):
            return None if site.database else f"site '{site.name}' has no database"
        case LiveUpstream(site=site) | StagedUpstream(site=site):
            return _nothing_behind(site, "database")
        case _:
            assert_never(upstream)


def changes_fault(upstream: Upstream) -> str | None:
    """Say why it cannot be seen what changed at an upstream; None where it can."""
    match upstream:
        case ReplicaUpstream():
            return None
        case LiveUpstream(site=site) | StagedUpstream(site=site):
            return _nothing_behind(site, "database")
        case _:
            assert_never(upstream)


def shell_fault(upstream: Upstream) -> str | None:
    """Say why no command can be run at an upstream; None where it can."""
    match upstream:
        case ReplicaUpstream():
            return None
        case LiveUpstream(site=site) | StagedUpstream(site=site):
            return _nothing_behind(site, "replica to run a command in")
        case _:
            assert_never(upstream)


def api_login_fault(upstream: Upstream, role: str) -> str | None:
    """Say why a role has no login to the API of an upstream; None where it has one."""
    match upstream:
        case ReplicaUpstream(site=site):
            return _role_fault(site, role)
        case LiveUpstream(site=site) | StagedUpstream(site=site):
            return _nothing_behind(site, "API login")
        case _:
            assert_never(upstream)


def _role_fault(site: Site, name: str) -> str | None:
    with_api = sorted(one for one, role in site.roles.items() if role.api)
    if name in with_api:
        return None
    there_are = ", ".join(with_api) or "none"
    return f"site '{site.name}' has no API login of role '{name}'; there are: {there_are}"


def _nothing_behind(site: Site, what: str) -> str:
    return f"there is no {what} behind the live '{site.name}'"
