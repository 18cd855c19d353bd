"""Which hosts an episode may reach, and where the gateway sends them."""

from __future__ import annotations

from typing import assert_never

from arena_core.errors import GatewayError
from orchestrator.access.episode_info import AccountInfo, SiteInfo, as_header
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.gateway.addresses import SocketAddress
from orchestrator.gateway.policy import Policy, Route
from sites.manifest import Live, Site
from sites.upstreams import (
    LiveUpstream,
    ReplicaUpstream,
    StagedUpstream,
    Upstream,
    is_visited_live,
)
from tasks.schema import Task


def policy_for(task: Task, environment: EpisodeEnvironment) -> Policy:
    """Return the routes of a task's sites in the stage's world; every other host is refused.

    Raises:
        GatewayError: a replica answers for a site, and the episode has none.
    """
    routes = (_route(environment.upstreams.of(name), task, environment) for name in task.sites)
    return Policy(tuple(routes)).resolved(environment.resolves)


def read_only_origins(task: Task, environment: EpisodeEnvironment) -> frozenset[str]:
    """Return the live origins that the browser session keeps read-only inside TLS."""
    if task.live_writes:
        return frozenset()
    upstreams = (environment.upstreams.of(name) for name in task.sites)
    return frozenset(one.origin for one in upstreams if is_visited_live(one))


def site_infos(task: Task, environment: EpisodeEnvironment) -> tuple[SiteInfo, ...]:
    """Return what a start page lists: the task's sites, and as whom the agent is logged in.

    Passwords are left out: whoever has a role is logged in when the episode begins.
    """
    return tuple(_site_info(environment.upstreams.of(name), task) for name in task.sites)


def _site_info(upstream: Upstream, task: Task) -> SiteInfo:
    site, roles = upstream.site, upstream.roles
    wanted = [roles[name] for name in task.roles_of(site.name) if name in roles]
    accounts = [AccountInfo(role.username) for role in wanted]
    return SiteInfo(site, f"{upstream.origin}/", accounts)


def _route(upstream: Upstream, task: Task, environment: EpisodeEnvironment) -> Route:
    match upstream:
        case ReplicaUpstream(site=site):
            return _replica_route(site, task, environment)
        case LiveUpstream(site=site, live=live):
            return _live_route(site, live, task, pace_s=live.pace_s)
        case StagedUpstream(site=site, live=live):
            return _live_route(site, live, task, pace_s=0.0)  # it is on this machine
        case _:
            assert_never(upstream)


def _replica_route(site: Site, task: Task, environment: EpisodeEnvironment) -> Route:
    replica = environment.replicas.get(site.name)
    if replica is None:
        message = f"site '{site.name}': a replica answers for it, and the episode has none"
        raise GatewayError(message)
    return Route(
        site=site.name,
        live=False,
        host=site.host,
        port=80,
        connect_to=SocketAddress(replica.endpoint.host, replica.endpoint.port),
        read_only=False,
        pace_s=0.0,
        episode_info=as_header(site_infos(task, environment)) if site.episode_info else None,
    )


def _live_route(site: Site, live: Live, task: Task, *, pace_s: float) -> Route:
    return Route(
        site=site.name,
        live=True,
        host=live.host,
        port=live.port,
        connect_to=None,
        read_only=not task.live_writes,
        pace_s=pace_s,
    )
