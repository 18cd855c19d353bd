"""A program: a Ray cluster of two nodes on loopback, of which its input may kill one.

It prints the cluster's address, and `killed` once the second node is. It ends with its input.
"""

from __future__ import annotations

import socket
import sys
from importlib import import_module
from typing import Any

_LOOPBACK = "127.0.0.1"
_AGENTS = ("metrics_agent", "metrics_export", "runtime_env_agent", "dashboard_agent_listen")


def main() -> None:
    cluster_utils: Any = import_module("ray.cluster_utils")
    head = {**_node(), "include_dashboard": False}
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    try:
        other = cluster.add_node(**_node())
        _say(cluster.address)
        for _ in sys.stdin:
            cluster.remove_node(other, allow_graceful=False)
            _say("killed")
    finally:
        cluster.shutdown()


def _node() -> dict[str, Any]:
    """Return what a node is; the agents' ports are given, for Ray waits 15 s for their own."""
    ports = {f"{name}_port": _free_port() for name in _AGENTS}
    return {
        "num_cpus": 1,
        "resources": {"arena-slots": 1},
        "node_ip_address": _LOOPBACK,
        **ports,
    }


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind((_LOOPBACK, 0))
        port: int = bound.getsockname()[1]
        return port


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
