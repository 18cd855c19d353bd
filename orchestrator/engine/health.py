"""Waiting until a container really serves: the page its manifest names, not just its port."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.engine.containers import Container
from orchestrator.engine.endpoints import Endpoint
from orchestrator.engine.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthProbe:
    """The page that proves a container serves.

    Attributes:
        endpoint: where it is asked.
        host: the Host header (and, over TLS, the server name).
        path: of the page.
        contains: a text that its body must have.
        timeout_s: how long to wait for it in all.
        tls_ca: PEM file of the authority that signed the container's certificate; None = http.
    """

    endpoint: Endpoint
    host: str
    path: str
    contains: str
    timeout_s: float
    tls_ca: str | None = None


async def wait_healthy(engine: Engine, container: Container, probe: HealthProbe) -> float:
    """Wait for the page and return how many seconds it took. Raises UnhealthyError, SiteGoneError."""
    raise NotImplementedError
