"""A program: a Ray cluster of two nodes on loopback, of which its input may kill one.

It prints the cluster's address. `kill` on its input kills the second node, and it answers `killed`;
`stop` stops the player there, and it answers which process that was. It ends with its input. Its
argument is the engine of the second node; empty for that of the first.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

_LOOPBACK = "127.0.0.1"
_AGENTS = ("metrics_agent", "metrics_export", "runtime_env_agent", "dashboard_agent_listen")


def main() -> None:
    cluster_utils: Any = import_module("ray.cluster_utils")
    head = {**_node(), "include_dashboard": False}
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    try:
        engine = {"DOCKER_HOST": sys.argv[1]} if sys.argv[1] else {}
        other = cluster.add_node(**_node(), env_vars=engine)
        _say(cluster.address)
        for command in sys.stdin:
            if command.strip() == "kill":
                cluster.remove_node(other, allow_graceful=False)
                _say("killed")
            else:
                _say(str(_stop_player(other.all_processes["raylet"][0].process.pid)))
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


def _stop_player(raylet: int) -> int:
    """Stop the process that plays a shard on a node: raylet, worker and shell are above it."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
    [player] = [
        pid
        for pid, parent in parents.items()
        if parents.get(parents.get(parent, 0)) == raylet
        and b"orchestrator.cli.entry" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    os.kill(player, signal.SIGSTOP)
    return player


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
