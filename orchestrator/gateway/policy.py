"""Which hosts a browser context may reach, and where each of them is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Address, ip_address
from typing import NoReturn, Self

from arena_core.errors import GatewayError, UsageError
from orchestrator.gateway.taped import TapedHost

_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?")
_PORT = re.compile(r"[0-9]{1,5}")
_RESOLVE = re.compile(
    r"(?P<host>[^:\[\]]+):(?P<port>[^:]+):(?P<to>\[[^\]]*\]|[^:\[\]]+):(?P<at>.+)"
)
_FORM = "expected HOST:PORT:ADDR:PORT, for example en.wikipedia.org:443:127.0.0.1:8443"


@dataclass(frozen=True, slots=True)
class SocketAddress:
    """A host name or an IP address (IPv6 without brackets) and a TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Resolve:
    """Connections to `host:port` go to the address `to` instead, as with curl's `--resolve`.

    Unlike curl's, the address has a port of its own, so that a staged live origin may listen where
    it likes.
    """

    host: str
    port: int
    to: SocketAddress

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `HOST:PORT:ADDR:PORT`; ADDR is an IPv4 address or an IPv6 address in brackets."""
        found = _RESOLVE.fullmatch(text)
        if found is None:
            _refuse(text, _FORM)
        host = found["host"].lower()
        if not _HOST.fullmatch(host):
            _refuse(text, f"{found['host']!r} is no host name; {_FORM}")
        return cls(
            host,
            _port(text, found["port"]),
            SocketAddress(_ip(text, found["to"]), _port(text, found["at"])),
        )

    def __str__(self) -> str:
        return f"{self.host}:{self.port}:{self.to}"


def _port(text: str, digits: str) -> int:
    if not _PORT.fullmatch(digits) or not 1 <= int(digits) <= 65535:  # noqa: PLR2004
        _refuse(text, f"{digits!r} is no port (1 to 65535); {_FORM}")
    return int(digits)


def _ip(text: str, written: str) -> str:
    bare = written[1:-1] if written.startswith("[") else written
    try:
        address = ip_address(bare)
    except ValueError:
        _refuse(text, f"{written!r} is no IP address; {_FORM}")
    if isinstance(address, IPv6Address) != written.startswith("["):
        _refuse(text, f"{written!r}: brackets are for IPv6 addresses, and those need them")
    return str(address)


def _refuse(text: str, why: str) -> NoReturn:
    raise UsageError(f"--resolve {text!r}: {why}")


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
        login_paths: where roles log in.
        third_party: no host of a site, but one that a live site's pages read from.
        taped: what answers in its place; its connections then go nowhere.
    """

    site: str
    live: bool
    host: str
    port: int
    connect_to: SocketAddress | None
    read_only: bool = False
    pace_s: float = 0.0
    episode_info: str | None = None
    login_paths: tuple[str, ...] = ()
    third_party: bool = False
    taped: TapedHost | None = None

    def is_login(self, path: str) -> bool:
        """Whether a request's path and query ask for a login page, or send its form."""
        return path.partition("?")[0] in self.login_paths

    @property
    def address(self) -> SocketAddress:
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
                raise GatewayError(f"two routes for {route.host}:{route.port}")
            if route.connect_to is None and not route.live and route.taped is None:
                raise GatewayError(f"site '{route.site}': the route to its replica has no address")
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
