"""All running sites under their own names, for a person's browser."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from arena_core.errors import PortTakenError, SiteGoneError
from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.server import Gateway, pac, serve_pac
from orchestrator.sandbox.episode_info import AccountInfo, SiteInfo, as_header
from orchestrator.sandbox.reset.replica import Replica
from sites.manifest import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Browsing:
    """A proxy through which each running site is found under its own name.

    Attributes:
        sites: those that are found.
        proxy: URL of the proxy; through it nothing but the sites is reached.
        setting: URL of an automatic proxy configuration that sends only the sites through it.
        page: what to open first: the start page, where one is up.
    """

    sites: tuple[Site, ...]
    proxy: str
    setting: str
    page: str


@asynccontextmanager
async def browsing(replicas: Sequence[Replica], slot: int, port: int) -> AsyncIterator[Browsing]:
    """Serve a proxy for replicas until the block ends; errors are those of `arena.sites.browse`."""
    if not replicas:
        where = f" in slot {slot}" if slot else ""
        message = f"no site is up{where}: there is nothing to browse"
        raise SiteGoneError(message, hint=f"arena up all{f' --slots {slot + 1}' if slot else ''}")
    policy = browsing_policy(replicas)
    first = next((one for one in replicas if one.site.episode_info), replicas[0])
    async with (
        Gateway.open(policy, bind=_bound(port)) as gateway,
        serve_pac(pac(policy, gateway.url)) as setting,
    ):
        yield Browsing(
            sites=tuple(replica.site for replica in replicas),
            proxy=gateway.url,
            setting=setting,
            page=f"http://{first.site.host}/",
        )


def _bound(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        message = f"port {port}: {error.strerror} on 127.0.0.1"
        raise PortTakenError(message, hint="omit the port for a free one") from error
    return listener


def browsing_policy(replicas: Sequence[Replica]) -> Policy:
    """Return the routes to one replica of each site; start pages list the others and all accounts.

    Raises:
        GatewayError: two replicas of one site.
    """
    episode_info = as_header(
        SiteInfo(
            replica.site,
            f"http://{replica.site.host}/",
            [AccountInfo(role.username, role.password) for role in replica.site.roles.values()],
        )
        for replica in replicas
    )
    return Policy(
        tuple(
            Route(
                site=replica.site.name,
                live=False,
                host=replica.site.host,
                port=80,
                connect_to=SocketAddress(replica.endpoint.host, replica.endpoint.port),
                episode_info=episode_info if replica.site.episode_info else None,
            )
            for replica in replicas
        )
    )
