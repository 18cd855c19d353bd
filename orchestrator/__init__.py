"""What runs things: engine, fleet, gateway, browser, agents, runs, reports."""

from orchestrator.names import claim_names

claim_names()
