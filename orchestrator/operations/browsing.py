"""The standing sites under their own names, for a person: what a gateway needs for that."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.access.episode_info import AccountInfo, SiteInfo, as_header
from orchestrator.gateway.addresses import SocketAddress
from orchestrator.gateway.policy import Policy, Route
from orchestrator.reset.replica import Replica


def browsing_policy(replicas: Sequence[Replica]) -> Policy:
    """Return the routes to one replica of each site; start pages list the others and all accounts.

    Raises:
        GatewayError: two replicas of one site.
    """
    episode_info = as_header(
        SiteInfo(
            replica.site,
            f"http://{replica.site.host}/",
            [AccountInfo(role.username, role.password) for role in replica.site.roles.values()],
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
                connect_to=SocketAddress(replica.endpoint.host, replica.endpoint.port),
                episode_info=episode_info if replica.site.episode_info else None,
            )
            for replica in replicas
        )
    )
