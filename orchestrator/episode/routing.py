"""Which hosts an episode may reach, and where the gateway sends them."""

from __future__ import annotations

from arena_core.errors import GatewayError
from arena_core.worlds import World
from orchestrator.access.episode_info import AccountInfo, SiteInfo, as_header
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.gateway.addresses import SocketAddress
from orchestrator.gateway.policy import Policy, Route
from sites.manifest import Live, Site
from tasks.schema import Task


def policy_for(task: Task, environment: EpisodeEnvironment) -> Policy:
    """Return the routes of a task's sites in the stage's world; every other host is refused.

    Raises:
        GatewayError: a site has neither a replica on this stage nor a live origin.
    """
    routes = (_route(environment.atlas.site(name), task, environment) for name in task.sites)
    return Policy(tuple(routes)).resolved(environment.resolves)


def read_only_origins(task: Task, environment: EpisodeEnvironment) -> frozenset[str]:
    """Return the live origins that the browser session keeps read-only inside TLS."""
    if task.live_writes or environment.world is not World.ONLINE:
        return frozenset()
    sites = (environment.atlas.site(name) for name in task.sites)
    return frozenset(site.live.origin for site in sites if site.live)


def site_infos(task: Task, environment: EpisodeEnvironment) -> tuple[SiteInfo, ...]:
    """Return what a start page lists: the task's sites, and as whom the agent is logged in.

    Passwords are not told: whoever has a role is logged in when the episode begins.
    """
    return tuple(_site_info(environment.atlas.site(name), task, environment) for name in task.sites)


def _site_info(site: Site, task: Task, environment: EpisodeEnvironment) -> SiteInfo:
    face = site.live if environment.world is World.ONLINE and site.live else site
    roles = [face.roles[name] for name in task.roles_of(site.name) if name in face.roles]
    accounts = [AccountInfo(role.username) for role in roles]
    return SiteInfo(site, f"{environment.atlas.origin(site, environment.world)}/", accounts)


def _route(site: Site, task: Task, environment: EpisodeEnvironment) -> Route:
    if environment.world is World.ONLINE and site.live:
        return _live_route(site, site.live, task, is_staged=site.name in environment.staged)
    replica = environment.replicas.get(site.name)
    if replica is None:
        message = f"site '{site.name}' has no replica on this stage and no live origin"
        raise GatewayError(message)
    return Route(
        site=site.name,
        live=False,
        host=site.host,
        port=80,
        upstream=SocketAddress(replica.endpoint.host, replica.endpoint.port),
        read_only=False,
        pace_s=0.0,
        episode_info=as_header(site_infos(task, environment)) if site.episode_info else None,
    )


def _live_route(site: Site, live: Live, task: Task, *, is_staged: bool) -> Route:
    return Route(
        site=site.name,
        live=True,
        host=live.host,
        port=live.port,
        upstream=None,
        read_only=not task.live_writes,
        pace_s=0.0 if is_staged else live.pace_s,  # a stand-in on this machine needs no sparing
    )
