"""The forward proxy a browser context is bound to: routes, refuses, paces, counts writes."""

from __future__ import annotations

from orchestrator.gateway.addresses import Resolve, SocketAddress
from orchestrator.gateway.deadlines import Deadlines
from orchestrator.gateway.journal import Exchange, GatewayJournal
from orchestrator.gateway.policy import Policy, Route
from orchestrator.gateway.server import Gateway

__all__ = [
    "Deadlines",
    "Exchange",
    "Gateway",
    "GatewayJournal",
    "Policy",
    "Resolve",
    "Route",
    "SocketAddress",
]
