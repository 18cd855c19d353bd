"""Which hosts an episode may reach, and where the gateway sends them."""

from __future__ import annotations

from orchestrator.episode.stage import Stage
from orchestrator.fleet.telling import ToldAccount, ToldSite, as_header
from orchestrator.gateway.addresses import Address
from orchestrator.gateway.policy import Policy, Route
from sites.errors import GatewayError
from sites.manifest import Live, Site
from sites.worlds import World
from tasks.schema import Task


def policy_for(task: Task, stage: Stage) -> Policy:
    """Return the routes of a task's sites in the stage's world; every other host is refused.

    Raises:
        GatewayError: a site has neither a replica on this stage nor a live origin.
    """
    routes = (_route(stage.atlas.site(name), task, stage) for name in task.sites)
    return Policy(tuple(routes)).resolved(stage.resolves)


def read_only_origins(task: Task, stage: Stage) -> frozenset[str]:
    """Return the live origins that the browser session keeps read-only inside TLS."""
    if task.live_writes or stage.world is not World.ONLINE:
        return frozenset()
    sites = (stage.atlas.site(name) for name in task.sites)
    return frozenset(site.live.origin for site in sites if site.live)


def told_sites(task: Task, stage: Stage) -> tuple[ToldSite, ...]:
    """Return what a start page lists: the task's sites, and as whom the agent is logged in.

    Passwords are not told: whoever has a role is logged in when the episode begins.
    """
    return tuple(_told_site(stage.atlas.site(name), task, stage) for name in task.sites)


def _told_site(site: Site, task: Task, stage: Stage) -> ToldSite:
    face = site.live if stage.world is World.ONLINE and site.live else site
    roles = [face.roles[name] for name in task.roles_of(site.name) if name in face.roles]
    accounts = [ToldAccount(role.username) for role in roles]
    return ToldSite(site, f"{stage.atlas.origin(site, stage.world)}/", accounts)


def _route(site: Site, task: Task, stage: Stage) -> Route:
    if stage.world is World.ONLINE and site.live:
        return _live_route(site, site.live, task, is_staged=site.name in stage.staged)
    replica = stage.replicas.get(site.name)
    if replica is None:
        message = f"site '{site.name}' has no replica on this stage and no live origin"
        raise GatewayError(message)
    return Route(
        site=site.name,
        live=False,
        host=site.host,
        port=80,
        upstream=Address(replica.endpoint.host, replica.endpoint.port),
        read_only=False,
        pace_s=0.0,
        told=as_header(told_sites(task, stage)) if site.told else None,
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
