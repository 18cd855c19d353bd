"""HTTP to a site under its own host name, wherever its port really is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from orchestrator.engine.endpoints import Endpoint

PAGE_TIMEOUT_S = 30.0

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginClient:
    """How one origin is reached from here.

    Attributes:
        origin: scheme and host as a browser sees them: URLs, cookies and the Host header use it.
        address: where its connections go; None for wherever its name leads.
        ca_file: PEM file of the authority that signed its certificate; None for the usual ones.
    """

    origin: str
    address: Endpoint | None = None
    ca_file: str | None = None

    def url(self, path: str) -> str:
        """Return the URL of a path on this origin."""
        return self.origin + path


@contextmanager
def origin_session(client: OriginClient) -> Iterator[requests.Session]:
    """Open a session that reaches the door's origin and, where an address is given, no other."""
    with requests.Session() as session:
        session.headers["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64) Arena login"
        if client.address is not None:
            session.trust_env = False
            way = _Redirected(client.origin, client.address)
            session.mount("http://", way)
            session.mount("https://", way)
        if client.ca_file is not None:
            session.verify = client.ca_file
        yield session


class _Redirected(HTTPAdapter):
    """Connects to a fixed address; server name, Host header and cookies stay those of the URL.

    Refuses every other origin: a replica that redirects elsewhere must not reach the internet.
    """

    def __init__(self, origin: str, address: Endpoint) -> None:
        super().__init__(max_retries=0)
        self._origin = origin
        self._address = address

    def build_connection_pool_key_attributes(  # type: ignore[override]  # stubs: private types
        self,
        request: requests.PreparedRequest,
        verify: bool | str,  # noqa: FBT001  (the signature of requests)
        cert: tuple[str, str] | str | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        parts = urlsplit(request.url or "")
        if _origin_of(request.url or "") != _origin_of(self._origin):
            message = f"it leads away from {self._origin}, to {parts.scheme}://{parts.netloc}"
            raise requests.exceptions.InvalidURL(message)
        host, pool = super().build_connection_pool_key_attributes(request, verify, cert)
        extra = {}
        if parts.scheme == "https":
            extra = {"server_hostname": parts.hostname, "assert_hostname": parts.hostname}
        there = {"scheme": parts.scheme, "host": self._address.host, "port": self._address.port}
        return {**host, **there}, {**pool, **extra}

    def add_headers(self, request: requests.PreparedRequest, **_: object) -> None:
        request.headers["Host"] = urlsplit(self._origin).netloc


def _origin_of(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port: `http://a` and `http://A:80` are one origin."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
