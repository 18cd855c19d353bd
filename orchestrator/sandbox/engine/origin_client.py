"""HTTP to a site under its own host name, wherever its port really is: the one way from here.

Health, warm-up, probes, logins, APIs and the contract all ask through it. A session reaches the
address that it is given and no other, whatever a redirect or the environment says.
"""

from __future__ import annotations

import codecs
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter

from orchestrator.sandbox.engine.containers import Endpoint

PAGE_TIMEOUT_S = 30.0

_PIECE_BYTES = 64 * 1024
_LOGIN_AGENT = "Mozilla/5.0 (X11; Linux x86_64) Arena login"
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginClient:
    """How one origin is reached from here.

    Attributes:
        origin: scheme and host as a browser sees them: URLs, cookies and the Host header use it.
        address: where its connections go; None for wherever its name leads.
        ca_file: PEM file of the authority that signed its certificate; None for the usual ones.
        verify: whether its certificate is looked at.
    """

    origin: str
    address: Endpoint | None = None
    ca_file: str | None = None
    verify: bool = True

    def url(self, path: str) -> str:
        return self.origin + path


@dataclass(frozen=True, slots=True)
class OriginAnswer:
    """What an origin answered: the status, and the body as text."""

    status: int
    text: str


def fetch(
    client: OriginClient, path: str, *, timeout_s: float, headers: Mapping[str, str] | None = None
) -> OriginAnswer:
    """GET one path, without cookies; a redirect is returned and not followed. Blocking.

    Args:
        timeout_s: how long to wait for a connection, for each piece of the answer, and for its end.
        headers: sent beside `requests`' own.
    """
    due = time.monotonic() + timeout_s
    with (
        origin_session(client, user_agent=None) as session,
        session.get(
            client.url(path),
            headers=headers,
            timeout=timeout_s,
            allow_redirects=False,
            stream=True,
        ) as answer,
    ):
        pieces = []
        for piece in answer.iter_content(_PIECE_BYTES):
            pieces.append(piece)
            if time.monotonic() > due:
                raise requests.exceptions.ReadTimeout(f"the answer did not end in {timeout_s:g} s")
        text = b"".join(pieces).decode(_charset(answer), errors="replace")
        return OriginAnswer(answer.status_code, text)


@contextmanager
def origin_session(
    client: OriginClient, *, user_agent: str | None = _LOGIN_AGENT
) -> Iterator[requests.Session]:
    """Open a session that reaches the client's origin and, where an address is given, no other.

    Args:
        user_agent: what it calls itself; None for the name of `requests`.
    """
    with requests.Session() as session:
        if user_agent is not None:
            session.headers["User-Agent"] = user_agent
        if client.address is not None:
            session.trust_env = False
            way = _Redirected(client.origin, client.address)
            session.mount("http://", way)
            session.mount("https://", way)
        if client.ca_file is not None:
            session.verify = client.ca_file
        if not client.verify:
            # Not `warnings.catch_warnings`: it is not safe where several threads ask at once.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
            session.verify = False
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


def _charset(answer: requests.Response) -> str:
    named = answer.encoding or "utf-8"
    try:
        return codecs.lookup(named).name
    except LookupError:
        return "utf-8"


def _origin_of(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port: `http://a` and `http://A:80` are one origin."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
