"""Which hosts a browser context may reach, and where each of them is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from arena_core.errors import GatewayError
from orchestrator.gateway.addresses import Resolve, SocketAddress

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One host and port of a site, as the browser names it, and where its connections go.

    Attributes:
        host: lower case, without port.
        connect_to: None for a live host that is found by its name.
        read_only: refuse methods that may write where the gateway can read them.
        pace_s: least time between two page loads of a live host, in seconds.
        episode_info: sent with each request to a site that lists it; None for all others.
    """

    site: str
    live: bool
    host: str
    port: int
    connect_to: SocketAddress | None
    read_only: bool = False
    pace_s: float = 0.0
    episode_info: str | None = None

    @property
    def address(self) -> SocketAddress:
        """Where a connection goes."""
        return self.connect_to or SocketAddress(self.host, self.port)

    @property
    def origin(self) -> str:
        """Scheme, host and, where it is not the scheme's own, port."""
        scheme = "https" if self.port == _DEFAULT_PORTS["https"] else "http"
        port = "" if self.port == _DEFAULT_PORTS[scheme] else f":{self.port}"
        return f"{scheme}://{self.host}{port}"


@dataclass(frozen=True, slots=True)
class Policy:
    """The routes of one browser context; what has no route is refused.

    Raises:
        GatewayError: two routes for one host and port, or a replica without an address.
    """

    routes: tuple[Route, ...]
    _table: Mapping[tuple[str, int], Route] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        table: dict[tuple[str, int], Route] = {}
        for route in self.routes:
            if (route.host, route.port) in table:
                message = f"two routes for {route.host}:{route.port}"
                raise GatewayError(message)
            if route.connect_to is None and not route.live:
                message = f"site '{route.site}': the route to its replica has no address"
                raise GatewayError(message)
            table[route.host, route.port] = route
        object.__setattr__(self, "_table", table)

    def lookup(self, host: str, port: int) -> Route | None:
        """Return the route of a host (any case) and port, or None where it is no site's."""
        return self._table.get((host.lower(), port))

    def why_refused(self, host: str, port: int) -> str:
        """Say in one line why `host:port` has no route."""
        ports = sorted(route.port for route in self.routes if route.host == host.lower())
        if ports:
            return f"{host} is a site of this task, but not on port {port} (only on {ports[0]})"
        return f"{host} is not a site of this task"

    def resolved(self, resolves: Iterable[Resolve]) -> Self:
        """Return this policy with live routes sent where `resolves` say."""
        to = {(resolve.host, resolve.port): resolve.to for resolve in resolves}
        return replace(
            self,
            routes=tuple(
                replace(route, connect_to=to.get((route.host, route.port), route.connect_to))
                if route.live
                else route
                for route in self.routes
            ),
        )
