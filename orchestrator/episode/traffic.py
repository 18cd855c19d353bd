"""What goes through an episode's gateway: the routes, and what its journal says afterwards."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never
from urllib.parse import urlsplit

from arena_core.errors import GatewayError, SiteGoneError
from evaluators.evidence import StepEvidence
from evaluators.network import RequestRecord
from orchestrator.browser.session.network import NetworkRecord
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.gateway.journal import Exchange, GatewayJournal
from orchestrator.gateway.live_limits import LiveUse
from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.tapes.hosts import taped_routes
from orchestrator.sandbox.episode_info import AccountInfo, SiteInfo, as_header
from sites.manifest import Live, Site
from sites.upstreams import (
    LiveUpstream,
    OriginUpstream,
    ReplicaUpstream,
    StagedUpstream,
    TapeUpstream,
    Upstream,
    is_visited_live,
)
from tasks.schema import Task


def policy_for(task: Task, environment: EpisodeEnvironment) -> Policy:
    """Return the routes of a task's sites in the stage's world; every other host is refused."""
    upstreams = [environment.upstreams.of(name) for name in task.sites]
    taped = [one for one in upstreams if isinstance(one, TapeUpstream)]
    routes = [
        _route(one, task, environment) for one in upstreams if not isinstance(one, TapeUpstream)
    ]
    known = {(one.host, one.port) for one in routes}
    recorded = taped_routes(taped, environment.tapes)
    # Another site's own host is that site, whatever was recorded of it.
    routes += [one for one in recorded if (one.host, one.port) not in known]
    own = {route.host for route in routes}
    others = [route for one in upstreams for route in _third_parties(one) if route.host not in own]
    once = {route.host: route for route in others}
    return Policy((*routes, *once.values())).resolved(environment.resolves)


def live_use(task: Task, environment: EpisodeEnvironment, policy: Policy) -> LiveUse:
    """Return what counts an episode's requests to live hosts, within the limits of its run."""
    meters = environment.live.by_site
    return LiveUse(
        [meters[name] for name in task.sites if name in meters],
        {r.host: None if r.third_party else r.site for r in policy.routes if r.live},
    )


def read_only_origins(task: Task, environment: EpisodeEnvironment) -> frozenset[str]:
    """Return the live origins that the browser session keeps read-only inside TLS."""
    if task.live_writes:
        return frozenset()
    upstreams = (environment.upstreams.of(name) for name in task.sites)
    return frozenset(one.origin for one in upstreams if is_visited_live(one))


def third_party_origins(policy: Policy) -> frozenset[str]:
    """Return the origins of third parties: read-only, whatever a task may write."""
    return frozenset(route.origin for route in policy.routes if route.third_party)


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


def _route(
    upstream: ReplicaUpstream | OriginUpstream, task: Task, environment: EpisodeEnvironment
) -> Route:
    match upstream:
        case ReplicaUpstream(site=site):
            return _replica_route(site, task, environment)
        case LiveUpstream(site=site, live=live):
            return _live_route(site, live, task, pace_s=live.pace_s)
        case StagedUpstream(site=site, live=live):
            return _live_route(site, live, task, pace_s=0.0)  # it is on this machine
        case _:
            assert_never(upstream)


def _third_parties(upstream: Upstream) -> Iterator[Route]:
    """Yield the hosts that a live site's pages may read from besides; a staged one has none."""
    if not isinstance(upstream, LiveUpstream):
        return
    for host in upstream.live.third_parties:
        yield Route(
            site=upstream.site.name,
            live=True,
            host=host,
            port=443,
            connect_to=None,
            read_only=True,
            third_party=True,
        )


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
        login_paths=tuple(sorted({role.login.path for role in site.roles.values()})),
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


def may_have_written(journal: GatewayJournal, site: str) -> bool:
    """Whether the state of a site may have changed, or still may.

    A request that was cut off may go on inside the site, whatever its method.
    """
    return (
        journal.writes(site) > 0
        or journal.in_flight > 0
        or any(
            one.site == site and one.status is None and one.refused is None and not one.tunnelled
            for one in journal.since(0)
        )
    )


def refuse_broken(exchanges: tuple[Exchange, ...]) -> None:
    """Break off where a site could not be reached: nothing after it would be the agent's doing."""
    for one in exchanges:
        if one.failed and one.site is not None:  # a third party's failure is none of the site's
            place = "live origin" if one.live else "replica"
            message = f"site '{one.site}': its {place} failed: {one.method} {one.url}: {one.failed}"
            raise SiteGoneError(message, live_site=one.site if one.live else None)


def refuse_broken_page(live: LiveUse, *, at_start: bool = False) -> None:
    """Break off where a live site's page could not be loaded whole, which TLS hides from gateways.

    A page that leads back to itself counts at the start alone: later, the agent may go back.
    """
    broken = live.broken
    if broken is None or (broken.is_circle and not at_start):
        return
    message = f"site '{broken.site}': its live origin failed: GET {broken.url}: {broken.why}"
    raise SiteGoneError(message, live_site=broken.site)


def host_of(url: str) -> str:
    """Return the host of a URL or, for CONNECT, of `host:port`."""
    return urlsplit(url if "://" in url else f"//{url}").hostname or ""


def with_unseen(
    network: NetworkRecord,
    steps: Sequence[StepEvidence],
    exchanges: Iterable[Exchange],
    logical: Callable[[str], str | None],
) -> NetworkRecord:
    """Return a record with the writes that only the gateway saw at its end, in any order.

    Workers that tabs share send such writes, and pages in their last moment. The gateway sees every
    request to a replica, but not who sent it. Without these, a check that wants no write would be
    met by one that the browser did not report.
    """
    reported = Counter((one.method, _place(one.url)) for one in network.requests)
    answered: defaultdict[tuple[str, str], list[int | None]] = defaultdict(list)
    for exchange in exchanges:
        if exchange.may_write and exchange.refused is None:
            answered[exchange.method, exchange.url].append(exchange.status)
    requests = list(network.requests)
    for step in steps:
        for note in step.notes:
            statuses = answered.get((note.method, note.url))
            if not note.may_write or note.refused is not None or not statuses:
                continue
            status, place = statuses.pop(0), (note.method, _place(note.url))
            if reported[place] > 0:
                reported[place] -= 1
                continue
            where = _without_query(logical(note.url))
            requests.append(
                RequestRecord(
                    index=len(requests),
                    step=step.index,
                    method=note.method,
                    url=_place(note.url),
                    logical=where,
                    site=note.site,
                    resource_type="other",
                    status=status,
                    is_whole=False,
                )
            )
    return replace(network, requests=tuple(requests))


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def _without_query(logical: str | None) -> str | None:
    return None if logical is None else logical.partition("#")[0].partition("?")[0]
