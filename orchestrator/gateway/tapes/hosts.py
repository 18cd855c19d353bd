"""The hosts that a tape answers for, as routes of a gateway lead to them."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from arena_core.errors import InputError
from orchestrator.gateway.policy import Route
from orchestrator.gateway.taped import TapedHost
from orchestrator.gateway.tapes.replay import ChainedTapes, TapeReplay
from orchestrator.gateway.tapes.wacz import OpenTape, TapedOrigin
from sites.upstreams import TapeUpstream

MOST_HOSTS: Final = 500  # beside the site's own; no page takes parts from that many
MakeContext = Callable[[str], ssl.SSLContext]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteTape:
    """A site's tape, ready to be replayed.

    Attributes:
        origins: what it has answers of: the site's own, and those that its pages take parts from.
        context: makes what is shown in place of a host's certificate.
    """

    site: str
    replay: TapeReplay
    origins: tuple[TapedOrigin, ...]
    context: MakeContext


def own_origin(upstream: TapeUpstream) -> TapedOrigin:
    return TapedOrigin.of(upstream.origin)


def site_tape(
    tape: OpenTape, upstream: TapeUpstream, replay: TapeReplay, context: MakeContext
) -> SiteTape:
    """Return an open tape as that of a site; InputError where it holds nothing of that site."""
    require_own(tape, upstream)
    return SiteTape(
        site=upstream.site.name,
        replay=replay,
        origins=tape.origins,
        context=cache(context),
    )


def require_own(tape: OpenTape, upstream: TapeUpstream) -> None:
    """Refuse a tape that holds nothing of a site's own origin."""
    if own_origin(upstream) not in tape.origins:
        held = ", ".join(map(str, tape.origins[:5]))
        message = f"{tape.path}: holds nothing of {upstream.origin} (site '{upstream.site.name}')"
        raise InputError(message, hint=f"it is a tape of {held}")


def taped_routes(
    upstreams: Iterable[TapeUpstream], tapes: Mapping[str, SiteTape]
) -> tuple[Route, ...]:
    """Return routes for all hosts of some sites' tapes, the sites' own before any other.

    A host of which several tapes hold parts is answered by each of them in turn.
    """
    known = tuple(upstreams)
    own = {own_origin(one): one.site.name for one in known}
    hosts = {one.host for one in own}
    holders: dict[TapedOrigin, list[str]] = {origin: [site] for origin, site in own.items()}
    for one in known:
        for origin in tapes[one.site.name].origins[:MOST_HOSTS]:
            if origin not in own:
                holders.setdefault(origin, []).append(one.site.name)
    routes: dict[tuple[str, int], Route] = {}
    for origin, sites in holders.items():
        first = tapes[sites[0]]
        replays = [tapes[site].replay for site in sites]
        is_tls = origin.scheme == "https"
        host = TapedHost(
            tape=replays[0] if len(replays) == 1 else ChainedTapes(replays),
            is_site=origin.host in hosts,
            tls=partial(first.context, origin.host) if is_tls else None,
        )
        route = Route(
            site=sites[0],
            live=False,
            host=origin.host,
            port=origin.port,
            connect_to=None,
            taped=host,
        )
        routes.setdefault((origin.host, origin.port), route)
    return tuple(routes.values())
