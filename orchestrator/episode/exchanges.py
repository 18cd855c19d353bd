"""What the gateway's journal says of an episode."""

from __future__ import annotations

from urllib.parse import urlsplit

from arena_core.errors import SiteGoneError
from orchestrator.gateway import Exchange, GatewayJournal


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
    """Break off where a site could not be reached: nothing after it would be the agent's doing.

    Raises:
        SiteGoneError: naming the request and what happened to it.
    """
    for one in exchanges:
        if one.failed:
            place = "live origin" if one.live else "replica"
            message = f"site '{one.site}': its {place} failed: {one.method} {one.url}: {one.failed}"
            raise SiteGoneError(message)


def host_of(url: str) -> str:
    """Return the host of a URL or, for CONNECT, of `host:port`."""
    return urlsplit(url if "://" in url else f"//{url}").hostname or ""
