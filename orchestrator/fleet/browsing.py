"""The standing sites under their own names, for a person: what a gateway needs for that."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.fleet.telling import ToldAccount, ToldSite, as_header
from orchestrator.gateway.addresses import Address
from orchestrator.gateway.policy import Policy, Route
from orchestrator.reset.replica import Replica


def browsing_policy(replicas: Sequence[Replica]) -> Policy:
    """Return the routes to one replica of each site; start pages list the others and all accounts.

    Raises:
        GatewayError: two replicas of one site.
    """
    told = as_header(
        ToldSite(
            replica.site,
            f"http://{replica.site.host}/",
            [ToldAccount(role.username, role.password) for role in replica.site.roles.values()],
        )
        for replica in replicas
    )
    return Policy(
        tuple(
            Route(
                site=replica.site.name,
                live=False,
                host=replica.site.host,
                port=80,
                upstream=Address(replica.endpoint.host, replica.endpoint.port),
                told=told if replica.site.told else None,
            )
            for replica in replicas
        )
    )
