"""Which host, port and path a request asks for, from its target and its Host field."""

from __future__ import annotations

import re
from dataclasses import dataclass

from orchestrator.gateway.heads import BadMessageError, RequestHead
from orchestrator.gateway.policy import Route

_HOST = r"(?P<host>[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])"
_ABSOLUTE = re.compile(
    rf"(?:http|ws)://{_HOST}(?::(?P<port>[0-9]{{1,5}}))?(?P<rest>[/?][^#]*)?", re.IGNORECASE
)
_AUTHORITY = re.compile(rf"{_HOST}:(?P<port>[0-9]{{1,5}})")
_FIELD = re.compile(rf"{_HOST}(?::(?P<port>[0-9]{{1,5}}))?")
_HTTP_PORT = 80


@dataclass(frozen=True, slots=True)
class RequestTarget:
    """A host (as the client wrote it), a port, and a path with query in origin form."""

    host: str
    port: int
    path: str

    @property
    def url(self) -> str:
        """The absolute URL."""
        port = "" if self.port == _HTTP_PORT else f":{self.port}"
        return f"http://{self.host}{port}{self.path}"


def absolute_target(request: RequestHead) -> RequestTarget:
    """Read `http://host:port/path` and hold it against the Host field.

    Raises:
        BadMessageError: it is no such URL, has user info or a fragment, or Host says otherwise.
    """
    found = _ABSOLUTE.fullmatch(request.target)
    if found is None:
        message = "the request's target is no http:// URL (this is a forward proxy)"
        raise BadMessageError(message)
    rest = found["rest"] or ""
    path = rest if rest.startswith("/") else f"/{rest}"
    target = RequestTarget(found["host"], int(found["port"] or _HTTP_PORT), path)
    _check_host(request, target)
    return target


def origin_target(request: RequestHead, route: Route) -> RequestTarget:
    """Read `/path` of a request that came through a tunnel to a route.

    Raises:
        BadMessageError: it is no such path, or Host names something other than the route.
    """
    if not request.target.startswith("/") or "#" in request.target:
        message = "the request's target is no path (it came through a tunnel)"
        raise BadMessageError(message)
    target = RequestTarget(route.host, route.port, request.target)
    _check_host(request, target)
    return target


def authority_target(request: RequestHead) -> RequestTarget:
    """Read the `host:port` of a CONNECT.

    Raises:
        BadMessageError: it is not of that form.
    """
    found = _AUTHORITY.fullmatch(request.target)
    if found is None:
        message = "CONNECT needs host:port"
        raise BadMessageError(message)
    return RequestTarget(found["host"], int(found["port"]), "")


def _check_host(request: RequestHead, target: RequestTarget) -> None:
    hosts = request.values(b"host")
    found = _FIELD.fullmatch(hosts[0].decode("latin-1")) if len(hosts) == 1 else None
    if found is None:
        message = "there is not exactly one valid Host field"
        raise BadMessageError(message)
    if (found["host"].lower(), int(found["port"] or _HTTP_PORT)) != (
        target.host.lower(),
        target.port,
    ):
        message = "the Host field and the request's target name different hosts"
        raise BadMessageError(message)
