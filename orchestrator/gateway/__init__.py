"""The forward proxy a browser context is bound to: routes, refuses, paces, counts writes."""

from __future__ import annotations

from orchestrator.gateway.arm import Arm
from orchestrator.gateway.conversation import Deadlines
from orchestrator.gateway.journal import Exchange, GatewayJournal
from orchestrator.gateway.policy import Policy, Resolve, Route, SocketAddress
from orchestrator.gateway.recorded import RecordedDocument, RecordedDocuments
from orchestrator.gateway.server import Gateway

__all__ = [
    "Arm",
    "Deadlines",
    "Exchange",
    "Gateway",
    "GatewayJournal",
    "Policy",
    "RecordedDocument",
    "RecordedDocuments",
    "Resolve",
    "Route",
    "SocketAddress",
]
