"""The forward proxy a browser context is bound to: routes, refuses, paces, counts writes."""

from __future__ import annotations

from orchestrator.gateway.addresses import Address, Resolve
from orchestrator.gateway.deadlines import Deadlines
from orchestrator.gateway.journal import Exchange, Journal
from orchestrator.gateway.policy import Policy, Route
from orchestrator.gateway.server import Gateway

__all__ = [
    "Address",
    "Deadlines",
    "Exchange",
    "Gateway",
    "Journal",
    "Policy",
    "Resolve",
    "Route",
]
